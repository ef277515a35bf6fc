/** What the page asks of its server. Whatever goes wrong is thrown as a `Refusal`. */

const UNREACHED = "This page's server cannot be reached; check the connection and try again.";
const BROKEN = "The answer broke off before its end; try again.";
const BY_STATUS = {
  413: "That is more than this page takes at once; send a part of it.",
  429: "That was too much at once; try again in a moment.",
  503: "The server is busy; try again in a moment.",
};

/** `problem`: {text, lines?, others?, rows?}. `gone`: the server no longer keeps what is meant. */
class Refusal extends Error {
  constructor(problem, gone = false) {
    super(problem.text);
    this.problem = problem;
    this.gone = gone;
  }
}

/** The JSON answer to a JSON question; a Blob where the answer is a file. */
export async function call(path, body, { signal } = {}) {
  return content(await asked(path, posted(body, signal)));
}

export async function get(path) {
  return content(await asked(path, {}));
}

/** The answer to samples: options, pasted text and files. */
export async function send(path, options, text, files, { signal } = {}) {
  const form = new FormData();
  form.append("options", JSON.stringify(options));
  form.append("text", text);
  for (const file of files) form.append("files", file, file.name);
  return content(await asked(path, { method: "POST", body: form, signal }));
}

/** The result of work that tells how far it is: `said` gets each line of that. */
export async function follow(path, body, { signal, said }) {
  const response = await asked(path, posted(body, signal));
  for await (const line of lines(response.body)) {
    const told = parsed(line);
    if ("said" in told) said(told.said);
    else if (told.gone) throw new Refusal({ text: BROKEN }, true);
    else if (told.problem) throw new Refusal(told.problem);
    else return told.result;
  }
  throw new Refusal({ text: BROKEN });
}

function posted(body, signal) {
  const headers = { "Content-Type": "application/json" };
  return { method: "POST", headers, body: JSON.stringify(body), signal };
}

async function asked(path, options) {
  let response;
  try {
    // Relative, as a Space may be served below a path.
    response = await fetch(new URL(path.replace(/^\//, ""), document.baseURI), options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal({ text: UNREACHED });
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  const text = BY_STATUS[response.status] ?? `The server answered ${response.status}; try again.`;
  throw new Refusal(told.problem ?? { text }, response.status === 410);
}

async function content(response) {
  const json = response.headers.get("Content-Type")?.includes("json");
  return json ? response.json() : response.blob();
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    throw new Refusal({ text: BROKEN });
  }
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const parts = (rest + (value ?? "")).split("\n");
      rest = parts.pop();
      yield* parts.filter((part) => part.trim());
      if (done) break;
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal({ text: BROKEN });
  } finally {
    reader.cancel().catch(() => {});
  }
  if (rest.trim()) yield rest;
}
