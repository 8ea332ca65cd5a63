import { expect, it } from "vitest";
import { oddPhrases } from "../../scripts/plain/phrases.ts";
import { textsOfPage, textsOfSource } from "../../scripts/plain/texts.ts";

const oddIn = (text: string): number => oddPhrases.filter(([phrase]) => phrase.test(text)).length;

it("finds what a program prints, joined and with a word for each value, and no query", () => {
  const source = [
    'const blocked = "what stands in the " + `way of ${period}: ` +',
    '  "the run is on";',
    "const query = sql`select a, b, c from what_is where it = 1 and more`;",
    'const short = "three words only";',
  ].join("\n");
  const texts = textsOfSource("a.ts", source);
  expect(texts).toEqual([{ line: 1, text: "what stands in the way of X: the run is on" }]);
  expect(oddIn(texts[0]?.text ?? "")).toBe(3);
  expect(oddIn("nothing blocks the close of X")).toBe(0);
});

it("finds paragraphs, items and cells of a page, and no code", () => {
  const page = [
    "# Title",
    "One line",
    "of `code here`.",
    "",
    "- An item",
    "",
    "```",
    "what is this",
    "```",
    "| a cell of at least six words | b |",
  ];
  expect(textsOfPage(page.join("\n"))).toEqual([
    { line: 2, text: "One line of CODE." },
    { line: 5, text: "An item" },
    { line: 10, text: "a cell of at least six words" },
  ]);
});
