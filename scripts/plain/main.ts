import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { oddPhrases, passive } from "./phrases.ts";
import { textsOfPage, textsOfSource, wordsOf, type Text } from "./texts.ts";

/**
 * Measures how plain the English of pages and messages is. Names what exceeds a limit, and then ends with 1; --all names
 * every odd phrase.
 */
const mostOdd = 1;
const readme = { wordsOfSentence: 18, passivesOfSentence: 0.25 };

const root = join(import.meta.dirname, "../..");
const pages = ["*.md", "docs/**/*.md", "test/*.md"];
const sources = ["src/**/*.ts", "demo/**/*.ts", "scripts/docs/*.ts"];

interface Measured {
  words: number;
  sentences: number;
  passives: number;
  /** Each with its place and plain words for it. */
  odd: string[];
}

function measure(patterns: readonly string[], textsOf: (path: string, content: string) => Text[]): Measured {
  const sum: Measured = { words: 0, sentences: 0, passives: 0, odd: [] };
  for (const path of globSync(patterns, { cwd: root }).sort())
    for (const { line, text } of textsOf(path, readFileSync(join(root, path), "utf8")))
      for (const sentence of text.split(/(?<=[.!?])\s+(?=[A-Z0-9"(])/u)) {
        if (wordsOf(sentence) < 3) continue;
        sum.words += wordsOf(sentence);
        sum.sentences += 1;
        sum.passives += sentence.match(passive)?.length ?? 0;
        for (const [phrase, plain] of oddPhrases) {
          const found = phrase.exec(sentence)?.[0];
          if (found !== undefined) sum.odd.push(`${path}:${line}: "${found}" (${plain}): ${sentence}`);
        }
      }
  return sum;
}

const ofPage = (_: string, page: string): Text[] => textsOfPage(page);
const measures = { documents: measure(pages, ofPage), messages: measure(sources, textsOfSource) };
let isGood = true;
for (const [name, { words, odd }] of Object.entries(measures)) {
  const rate = (1000 * odd.length) / words;
  console.log(`${name}: ${words} words, ${rate.toFixed(2)} odd phrases in 1,000 words (at most ${mostOdd})`);
  if (rate > mostOdd || process.argv.includes("--all")) console.log(odd.join("\n"));
  isGood &&= rate <= mostOdd;
}
const { words, sentences, passives } = measure(["README.md"], ofPage);
console.log(
  `README.md: ${(words / sentences).toFixed(1)} words a sentence (at most ${readme.wordsOfSentence}), ` +
    `${(passives / sentences).toFixed(2)} passives (at most ${readme.passivesOfSentence})`,
);
isGood &&= words / sentences <= readme.wordsOfSentence && passives / sentences <= readme.passivesOfSentence;
if (!isGood) process.exitCode = 1;
