import { createServer } from "node:http";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";

/**
 * A server for one test, to which the page's calls go: `answer(request, response)` gets each with
 * its `body` as bytes.
 */
export async function served(context, answer) {
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => Buffer.alloc(0)); // a call that was stopped has none
    answer(Object.assign(request, { body }), response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  globalThis.document = { baseURI: `http://127.0.0.1:${server.address().port}/space/` };
  context.after(() => {
    delete globalThis.document;
    server.closeAllConnections();
    server.close();
  });
}

/** The options, the text and the names of the files of a form that was sent. */
export async function form({ body, headers }) {
  const sent = await new Response(body, { headers: { "Content-Type": headers["content-type"] } }).formData();
  const files = sent.getAll("files");
  return {
    options: JSON.parse(sent.get("options")),
    text: sent.get("text"),
    files: await Promise.all(files.map(async (file) => [file.name, await file.text()])),
  };
}

export function json(response, value, status = 200) {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}
