import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { crmSync } from "../support/program.ts";
import { folder as newFolder } from "../support/world/start.ts";

/**
 * Walks through the tutorial as its reader does: types each command, makes each edit, and compares what is printed.
 * `TUTORIAL=write` writes what is printed into the page instead.
 */

const page = join(import.meta.dirname, "../../docs/tutorial/first-synchronisation.md");
const isWriting = process.env["TUTORIAL"] === "write";
const omitted = "…";
const holdId = /\bh-[0-9a-f]{8}\b/u;

interface Block {
  language: string;
  lines: string[];
}

/** What differs from one walk to another: times, ids, hashes. */
const changing: readonly [RegExp, string][] = [
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b/gu, "TIME"],
  [/\b(run|op)_[0-9a-z]{10,}/gu, "$1_…"],
  [/\bh-[0-9a-f]{8}\b/gu, "h-…"],
  [/\b[0-9a-f]{16,}…?/gu, "…"],
  [/\b\d+ ?(?:s|min|ms)\b/gu, "1s"],
];

function steady(line: string): string {
  return changing.reduce((text, [pattern, value]) => text.replaceAll(pattern, value), line).trimEnd();
}

function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(sh|text|diff)\n([^]*?)\n```$/gmu)].map(([, language = "", body = ""]) => ({
    language,
    lines: body.split("\n"),
  }));
}

/** The lines of a page that are left out of what was printed are an ellipsis there. */
function agrees(shown: readonly string[], printed: readonly string[]): boolean {
  const at = shown.indexOf(omitted);
  const [head, tail] = at < 0 ? [shown, []] : [shown.slice(0, at), shown.slice(at + 1)];
  if (at < 0 ? printed.length !== head.length : printed.length < head.length + tail.length) return false;
  const parts = [...printed.slice(0, head.length), ...(tail.length === 0 ? [] : printed.slice(-tail.length))];
  return [...head, ...tail].every((line, index) => steady(line) === steady(parts[index] ?? ""));
}

/** What was printed, with as many lines at both ends as the page has. */
function shortened(shown: readonly string[], printed: readonly string[]): string[] {
  const at = shown.indexOf(omitted);
  const last = at < 0 ? 0 : shown.length - at - 1;
  if (at < 0 || printed.length <= at + last) return [...printed];
  return [...printed.slice(0, at), omitted, ...(last === 0 ? [] : printed.slice(-last))];
}

/** An edit of a file: the lines that go, and those that come instead. */
function edited(text: string, lines: readonly string[]): string {
  const own = lines.filter((line) => !line.startsWith("---"));
  const of = (sign: string): string =>
    own
      .filter((line) => line.startsWith(sign))
      .map((line) => `${line.slice(1)}\n`)
      .join("");
  const before = of("-");
  expect(text.split(before), `the file has once:\n${before}`).toHaveLength(2);
  return text.replace(before, of("+"));
}

it("leads from three files to the first order, as it says", async () => {
  const folder = newFolder();
  cpSync(join(import.meta.dirname, "../../docs/tutorial/export"), folder, { recursive: true });
  const place = { config: join(folder, "crm-sync.yaml"), environment: { CRM_SYNC__log__level: "silent" } };
  const text = readFileSync(page, "utf8");
  let printed: string[] = [];
  let hold = "";
  let shownHold = "";
  let written = text;
  const type = async (line: string): Promise<string[]> => {
    const typedHold = holdId.exec(line)?.[0] ?? shownHold;
    if (isWriting) written = written.replace(typedHold, shownHold);
    else expect(typedHold, "the hold that the reader types is the one that the page shows").toBe(shownHold);
    const [, ...words] = [...line.matchAll(/"([^"]*)"|(\S+)/gu)].map(([, quoted, bare]) => quoted ?? bare ?? "");
    const typed = words.map((word) => (word.endsWith(".csv") ? join(folder, word) : word.replace(holdId, hold)));
    const { stdout } = await crmSync(place, ...typed);
    hold = holdId.exec(stdout)?.[0] ?? hold;
    return stdout.replaceAll(`${folder}/`, "").trimEnd().split("\n");
  };
  const compare = (shown: string[]): void => {
    const isSame = agrees(shown, printed);
    const both = `the page shows:\n${shown.join("\n")}\n\nprinted:\n${printed.join("\n")}`;
    if (!isWriting) expect(isSame, `${both}\n\nTUTORIAL=write writes it into the page`).toBe(true);
    const now = isSame ? shown : shortened(shown, printed);
    const block = (content: readonly string[]): string => `\`\`\`text\n${content.join("\n")}\n\`\`\``;
    written = written.replace(block(shown), () => block(now));
    shownHold = holdId.exec(now.join("\n"))?.[0] ?? shownHold;
  };
  for (const { language, lines } of blocksOf(text)) {
    if (language === "sh") {
      for (const line of lines) if (line.startsWith("crm-sync ")) printed = await type(line);
    } else if (language === "diff") {
      const file = join(folder, basename(/^--- (\S+)/u.exec(lines[0] ?? "")?.[1] ?? ""));
      writeFileSync(file, edited(readFileSync(file, "utf8"), lines));
    } else compare(lines);
  }
  if (isWriting) writeFileSync(page, written);
});
