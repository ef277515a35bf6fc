import assert from "node:assert/strict";
import { test } from "node:test";

import { Given } from "../../vendiscore_page/static/asking/given.js";
import { form, json, served } from "./server.mjs";

/** Samples of a kind, with what the server was sent and whom the samples told of changes. */
async function given(context, kind, answer = () => ({})) {
  const sent = [];
  const told = [];
  await served(context, async (request, response) => {
    const asked = await form(request);
    sent.push(asked);
    json(response, { key: `key ${sent.length}`, kind, kinds: [kind], ...answer(asked) });
  });
  const changed = () => told.push("changed");
  return { sent, told, samples: new Given(kind, { changed, turned: () => told.push("turned") }) };
}

test("pasted text is read immediately with the sample type of the tab", async (context) => {
  const { samples, sent } = await given(context, "molecules");
  samples.write("CCO", true);
  assert.equal(samples.busy, true);
  assert.equal((await samples.ready()).key, "key 1");
  assert.deepEqual(sent, [{ options: { kind: "molecules" }, text: "CCO", files: [] }]);
  assert.deepEqual([samples.busy, samples.own], [false, true]);
});

test("only the last typed text is read", async (context) => {
  const { samples, sent } = await given(context, "texts");
  for (const text of ["a", "ab", "abc"]) samples.write(text, false);
  await samples.ready();
  assert.deepEqual(sent.map(({ text }) => text), ["abc"]);
});

test("separator is kept while typing and reset by pasting", async (context) => {
  const { samples, sent } = await given(context, "texts");
  samples.write("a --- b", true);
  samples.ask({ separator: "---" });
  for (const isPasted of [false, true]) {
    samples.write("c --- d", isPasted);
    await samples.ready();
  }
  assert.deepEqual(sent.slice(-2).map(({ options }) => options.separator), ["---", undefined]);
});

test("large pasted text becomes a file", async (context) => {
  const { samples, sent } = await given(context, "texts");
  const large = "x".repeat(200_001);
  samples.write(large, true);
  await samples.ready();
  assert.deepEqual([samples.text, samples.names, samples.pasted], ["", ["pasted.txt"], true]);
  assert.deepEqual([sent[0].text, sent[0].files], ["", [["pasted.txt", large]]]);
});

test("files replace the text, and detaching them restores it", async (context) => {
  const { samples, sent } = await given(context, "texts");
  samples.write("mine", true);
  samples.attach([new File(["theirs"], "a.txt")]);
  await samples.ready();
  assert.deepEqual(sent.at(-1), { options: {}, text: "", files: [["a.txt", "theirs"]] });
  samples.detach();
  await samples.ready();
  assert.deepEqual([sent.at(-1).text, samples.source], ["mine", "text"]);
});

test("files change the sample type, unless the selected type fits", async (context) => {
  const answer = ({ options }) => ({ kind: options.kind ?? "vectors", kinds: ["vectors", "texts"] });
  const { samples, told } = await given(context, "texts", answer);
  samples.attach([new File(["1,2"], "a.csv")]);
  await samples.ready();
  assert.deepEqual([samples.kind, told.at(-1)], ["vectors", "turned"]);
  samples.attach([new File(["1,2"], "a.csv")], "texts");
  await samples.ready();
  assert.deepEqual([samples.kind, samples.read.kind], ["texts", "texts"]);
});

test("question or problem is set if samples cannot be read", async (context) => {
  const question = { text: "Which column?", choices: [] };
  const answers = [{ key: "", question }, { key: "", problem: { text: "Empty." } }];
  const { samples } = await given(context, "texts", () => answers.shift());
  samples.write("a,b", true);
  assert.equal(await samples.ready(), null);
  assert.deepEqual([samples.question, samples.problem], [question, null]);
  samples.ask({ column: "a" });
  assert.equal(await samples.ready(), null);
  assert.deepEqual([samples.question, samples.problem], [null, { text: "Empty." }]);
});

test("empty input sends no request", async (context) => {
  const { samples, sent } = await given(context, "texts");
  assert.equal(await samples.ready(), null);
  assert.match(samples.problem.text, /no samples yet/);
  assert.deepEqual(sent, []);
});

test("resending keeps the version, and new samples change it", async (context) => {
  const { samples } = await given(context, "texts");
  samples.write("a", true);
  await samples.ready();
  samples.leaveOut = true;
  const { version } = samples;
  assert.equal((await samples.again()).key, "key 2");
  assert.deepEqual([samples.version, samples.leaveOut], [version, true]);
  samples.write("b", true);
  assert.ok(samples.version > version);
  assert.equal(samples.leaveOut, false);
  await samples.ready();
});

test("restore brings samples back, and resending requires the files again", async (context) => {
  const { samples, sent } = await given(context, "texts");
  samples.attach([new File(["a"], "a.txt"), new File(["b"], "b.txt")]);
  await samples.ready();
  const kept = JSON.parse(JSON.stringify(samples.snapshot()));
  const other = new Given("texts", { changed() {}, turned() {} });
  other.restore(kept);
  assert.equal((await other.ready()).key, "key 1");
  assert.equal(sent.length, 1);
  assert.equal(await other.again(), null);
  assert.match(other.problem.text, /^a\.txt \(and 1 more\) could not be kept/);
});
