import assert from "node:assert/strict";
import { test } from "node:test";

import { excerpt, phrasePattern } from "../../vendiscore_page/static/showing/highlight.js";

/**
 * Returns the occurrences of a phrase in texts.
 * @param {string} phrase
 * @param {string[]} texts
 * @param {boolean} [ofCharacters]
 */
function occurrences(phrase, texts, ofCharacters = false) {
  const pattern = phrasePattern(phrase, texts, ofCharacters);
  return texts.flatMap((text) => [...text.matchAll(pattern)].map(([found]) => found));
}

test("phrase is found as whole words, whatever the spaces", () => {
  const texts = ["A dog runs.", "A  dog\nruns fast", "a dog runs", "BA dog runs", "A dog runs2", "A dogruns"];
  assert.deepEqual(occurrences("A dog runs", texts), ["A dog runs", "A  dog\nruns"]);
});

test("punctuation may be separated by spaces", () => {
  assert.deepEqual(occurrences("with: (yes)", ["help with: (yes)!", "with : ( yes )", "with (yes)"]), ["with: (yes)", "with : ( yes )"]);
  assert.deepEqual(occurrences("beach.", ["the beach.", "beach .", "beach.com", "beach"]), ["beach.", "beach .", "beach."]);
});

test("signs of patterns and quotation marks are found", () => {
  assert.deepEqual(occurrences('say "a.b*c" [x]', ["say “a.b*c” [x]", 'say "aXb*c" [x]']), ["say “a.b*c” [x]"]);
  assert.deepEqual(occurrences("a-b \\ c", ["a-b \\ c"]), ["a-b \\ c"]);
});

test("phrase that begins within a word is found", () => {
  assert.deepEqual(occurrences("n't like", ["I don't like it", "not like"]), ["n't like"]);
});

test("words of other scripts and emoji are found", () => {
  assert.deepEqual(occurrences("über Öl", ["über Öl 🎉", "xüber Öl", "über Öle"]), ["über Öl"]);
  assert.deepEqual(occurrences("🎉 ja", ["oh 🎉 ja", "🎉 jaja"]), ["🎉 ja"]);
});

test("phrase of characters is found within words", () => {
  assert.deepEqual(occurrences("at s", ["a cat sat", "at  so", "ats"], true), ["at s", "at  s"]);
});

test("excerpt shows the first occurrence", () => {
  const text = `${"word ".repeat(60)}the phrase${" more".repeat(60)}`;
  const pattern = phrasePattern("the phrase", [text], false);
  const shown = excerpt(text, pattern, 80);
  assert.match(shown, /^…word .*the phrase more.*…$/);
  assert.ok(shown.length <= 82);
  assert.equal(excerpt("the  phrase", pattern, 80), "the phrase");
  assert.equal(excerpt("short, the phrase", pattern, 80), "short, the phrase");
});
