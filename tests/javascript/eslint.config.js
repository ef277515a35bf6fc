import js from "@eslint/js";
import globals from "globals";

const rules = {
  ...js.configs.recommended.rules,
  eqeqeq: "error",
  "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": "error",
};

export default [
  {
    files: ["vendiscore_page/static/**/*.js", "docs/static/*.js"],
    languageOptions: { globals: globals.browser },
    rules,
  },
  {
    files: ["tests/javascript/*.{js,mjs}"],
    languageOptions: { globals: globals.node },
    rules,
  },
];
