/** Calls of the page to its server. Whatever goes wrong is thrown as a `Refusal`. */

const UNREACHED = "The server cannot be reached. Check your connection and try again.";
const BROKEN = "The connection was interrupted before the result was complete. Try again.";
/** @type {Record<number, string>} */
const BY_STATUS = {
  413: "The samples are too large for this page. Send fewer samples.",
  429: "There were too many requests. Try again in a moment.",
  503: "The server is busy. Try again in a moment.",
};

// By this the server tells apart the pages behind one address; it is new with each load.
const SESSION = Math.random().toString(36).slice(2);

class Refusal extends Error {
  /**
   * @param {Problem} problem
   * @param {boolean} [gone] the server no longer keeps what is meant
   */
  constructor(problem, gone = false) {
    super(problem.text);
    this.problem = problem;
    this.gone = gone;
  }
}

/**
 * Returns the JSON answer to a JSON question; a Blob where the answer is a file.
 * @type {Call}
 */
export async function call(path, body, { signal } = {}) {
  return content(await asked(path, posted(body, signal)));
}

/**
 * Returns the JSON at a path.
 * @param {string} path
 */
export async function get(path) {
  return content(await asked(path, {}));
}

/**
 * Returns the answer to samples: options, pasted text and files.
 * @param {string} path
 * @param {object} options
 * @param {string} text
 * @param {File[]} files
 * @param {{signal?: AbortSignal}} [stop]
 */
export async function send(path, options, text, files, { signal } = {}) {
  const form = new FormData();
  form.append("options", JSON.stringify(options));
  form.append("text", text);
  for (const file of files) form.append("files", file, file.name);
  return content(await asked(path, { method: "POST", body: form, signal }));
}

/**
 * Returns the result of work that tells how far it is: `said` gets each line of that.
 * @param {string} path
 * @param {object} body
 * @param {Tools} tools
 */
export async function follow(path, body, { signal, said }) {
  const response = await asked(path, posted(body, signal));
  for await (const told of lines(response.body)) {
    if ("said" in told) said(told.said);
    else if (told.gone) throw new Refusal({ text: BROKEN }, true);
    else if (told.problem) throw new Refusal(told.problem);
    else return told.result;
  }
  throw new Refusal({ text: BROKEN });
}

/** @type {(body: object, signal?: AbortSignal) => RequestInit} */
const posted = (body, signal) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
  signal,
});

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function asked(path, options) {
  const headers = { ...options.headers, "X-Session": SESSION };
  let response;
  try {
    // Relative, as a Space may be served below a path.
    response = await fetch(new URL(path.replace(/^\//, ""), document.baseURI), { ...options, headers });
  } catch (error) {
    if (aborted(error)) throw error;
    throw new Refusal({ text: UNREACHED });
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  const text = BY_STATUS[response.status] ?? `The server returned error ${response.status}. Try again.`;
  throw new Refusal(told.problem ?? { text }, response.status === 410);
}

/** @param {unknown} error */
function aborted(error) {
  return error instanceof Error && error.name === "AbortError";
}

/** @param {Response} response */
async function content(response) {
  const json = response.headers.get("Content-Type")?.includes("json");
  return json ? response.json() : response.blob();
}

/**
 * Yields the values of a body with one in each line.
 * @param {ReadableStream<BufferSource> | null} body
 */
async function* lines(body) {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (let done = false; !done; ) {
      const read = await reader.read();
      ({ done } = read);
      const parts = `${rest}${read.value ?? ""}${done ? "\n" : ""}`.split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) if (part.trim()) yield JSON.parse(part);
    }
  } catch (error) {
    if (aborted(error)) throw error;
    throw new Refusal({ text: BROKEN });
  } finally {
    reader.cancel().catch(() => {});
  }
}
