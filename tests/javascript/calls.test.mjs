import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";

import { call, follow, get, send } from "../../vendiscore_page/static/asking/calls.js";
import { form, json, served } from "./server.mjs";

const signal = () => new AbortController().signal;

test("get prefixes paths with the page address", async (context) => {
  await served(context, ({ url, method }, response) => json(response, { url, method }));
  assert.deepEqual(await get("/page/menu"), { url: "/space/page/menu", method: "GET" });
});

test("send posts samples as form data, and call returns files as Blob", async (context) => {
  let sent;
  await served(context, async (request, response) => {
    if (request.url.endsWith("report")) return response.end("<p>ü</p>");
    sent = await form(request);
    return json(response, { key: "k" });
  });
  const files = [new File(["one"], "a.txt"), new File(["two"], "b.txt")];
  assert.deepEqual(await send("/page/read", { kind: "texts" }, "ü\n", files), { key: "k" });
  const each = [["a.txt", "one"], ["b.txt", "two"]];
  assert.deepEqual(sent, { options: { kind: "texts" }, text: "ü\r\n", files: each });
  assert.equal(await (await call("/page/report", {})).text(), "<p>ü</p>");
});

test("follow reports progress lines that arrive in pieces", async (context) => {
  await served(context, async (_, response) => {
    const text = Buffer.from('{"said":"Reading"}\n\n{"said":"50 % — ü"}\n{"result":{"VS":2}}');
    const at = text.indexOf("ü") + 1; // between the bytes of one letter
    response.write(text.subarray(0, 9));
    await pause(20);
    response.write(text.subarray(9, at));
    await pause(20);
    response.end(text.subarray(at));
  });
  const told = [];
  const said = (words) => told.push(words);
  assert.deepEqual(await follow("/page/score", {}, { signal: signal(), said }), { VS: 2 });
  assert.deepEqual(told, ["Reading", "50 % — ü"]);
});

for (const [name, line, expected] of [
  ["is no longer kept", '{"gone":true}', { gone: true }],
  ["has a problem", '{"problem":{"text":"Too few."}}', { gone: false, message: "Too few." }],
  ["is cut off", '{"resu', { gone: false, message: /was interrupted/ }],
  ["never comes", '{"said":"Reading"}\n', { gone: false, message: /was interrupted/ }],
]) {
  test(`follow rejects a result that ${name}`, async (context) => {
    await served(context, (_, response) => response.end(line));
    await assert.rejects(follow("/page/score", {}, { signal: signal(), said() {} }), expected);
  });
}

for (const [status, body, expected] of [
  [410, { gone: true }, { gone: true }],
  [422, { problem: { text: "Unknown kernel." } }, { message: "Unknown kernel.", gone: false }],
  [429, "slow down", { message: /too many requests/ }],
  [502, "<html>", { message: /returned error 502/ }],
]) {
  test(`get describes status ${status}`, async (context) => {
    await served(context, (_, response) => json(response, body, status));
    await assert.rejects(get("/page/menu"), expected);
  });
}

test("get describes an unreachable server, and call rejects with AbortError", async (context) => {
  await served(context, (_, response) => response.socket.destroy());
  await assert.rejects(get("/page/menu"), { message: /cannot be reached/ });
  await assert.rejects(call("/page/groups", {}, { signal: AbortSignal.abort() }), {
    name: "AbortError",
  });
});
