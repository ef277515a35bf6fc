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

test("a pasted text is read at once, as the kind of the tab", async (context) => {
  const { samples, sent } = await given(context, "molecules");
  samples.write("CCO", true);
  assert.equal(samples.busy, true);
  assert.equal((await samples.ready()).key, "key 1");
  assert.deepEqual(sent, [{ options: { kind: "molecules" }, text: "CCO", files: [] }]);
  assert.deepEqual([samples.busy, samples.own], [false, true]);
});

test("of what is typed only the last is read", async (context) => {
  const { samples, sent } = await given(context, "texts");
  for (const text of ["a", "ab", "abc"]) samples.write(text, false);
  await samples.ready();
  assert.deepEqual(sent.map(({ text }) => text), ["abc"]);
});

test("a split stays while one types, and ends with a text that is pasted", async (context) => {
  const { samples, sent } = await given(context, "texts");
  samples.write("a --- b", true);
  samples.ask({ separator: "---" });
  for (const isPasted of [false, true]) {
    samples.write("c --- d", isPasted);
    await samples.ready();
  }
  assert.deepEqual(sent.slice(-2).map(({ options }) => options.separator), ["---", undefined]);
});

test("a text that is too large for the box becomes a file of that text", async (context) => {
  const { samples, sent } = await given(context, "texts");
  const large = "x".repeat(200_001);
  samples.write(large, true);
  await samples.ready();
  assert.deepEqual([samples.text, samples.names, samples.pasted], ["", ["pasted.txt"], true]);
  assert.deepEqual([sent[0].text, sent[0].files], ["", [["pasted.txt", large]]]);
});

test("files take the place of the text, which comes back without them", async (context) => {
  const { samples, sent } = await given(context, "texts");
  samples.write("mine", true);
  samples.attach([new File(["theirs"], "a.txt")]);
  await samples.ready();
  assert.deepEqual(sent.at(-1), { options: {}, text: "", files: [["a.txt", "theirs"]] });
  samples.detach();
  await samples.ready();
  assert.deepEqual([sent.at(-1).text, samples.source], ["mine", "text"]);
});

test("files of another kind turn the samples, unless the visitor's kind fits them", async (context) => {
  const answer = ({ options }) => ({ kind: options.kind ?? "vectors", kinds: ["vectors", "texts"] });
  const { samples, told } = await given(context, "texts", answer);
  samples.attach([new File(["1,2"], "a.csv")]);
  await samples.ready();
  assert.deepEqual([samples.kind, told.at(-1)], ["vectors", "turned"]);
  samples.attach([new File(["1,2"], "a.csv")], "texts");
  await samples.ready();
  assert.deepEqual([samples.kind, samples.read.kind], ["texts", "texts"]);
});

test("a question and a problem stand in the place of samples", async (context) => {
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

test("nothing is sent where nothing was given", async (context) => {
  const { samples, sent } = await given(context, "texts");
  assert.equal(await samples.ready(), null);
  assert.match(samples.problem.text, /nothing to score/);
  assert.deepEqual(sent, []);
});

test("samples that are sent again are the same, and other samples are not", async (context) => {
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

test("a reload brings samples back; files have to be chosen again", async (context) => {
  const { samples, sent } = await given(context, "texts");
  samples.attach([new File(["a"], "a.txt"), new File(["b"], "b.txt")]);
  await samples.ready();
  const kept = JSON.parse(JSON.stringify(samples.snapshot()));
  const other = new Given("texts", { changed() {}, turned() {} });
  other.restore(kept);
  assert.equal((await other.ready()).key, "key 1");
  assert.equal(sent.length, 1);
  assert.equal(await other.again(), null);
  assert.match(other.problem.text, /^a\.txt \(and 1 more\) is no longer here/);
});
