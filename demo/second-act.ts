import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What one edit of the CRM is about, in words, and how the exports say it. */
interface Edit {
  record: string;
  what: string;
  file: string;
  change: (text: string) => string;
}

/** The lines that begin so, each once changed; a sample in which there is none was changed by hand. */
function lines(start: string, change: (line: string) => string): (text: string) => string {
  return (text) => {
    if (!text.split("\n").some((line) => line.startsWith(start)))
      throw new Error(`the sample has no line that begins with ${start}; git checkout demo/sample brings it back`);
    return text
      .split("\n")
      .flatMap((line) => (line.startsWith(start) ? change(line).split("\n") : [line]))
      .filter((line, index, all) => line !== "" || index === all.length - 1)
      .join("\n");
  };
}

const added = "SO-50004,product,P-990001,A-100026,,,Plan 3D,,,,,PLAN-3D,,tool,1,,,YEAR,1,1-0-0,,,,,,";

/** What happened in the CRM since the first act. */
export const edits: readonly Edit[] = [
  {
    record: "order crm/SO-50004",
    what: "has one more product: crm-sync orders it beside the others, under its own number (E5)",
    file: "crm/order-lines.csv",
    change: lines("SO-50004,asset,A-100026,", (line) => `${line}\n${added}`),
  },
  {
    record: "order crm/SO-50007",
    what: "was cancelled: removing its licences waits for a person",
    file: "crm/orders.csv",
    change: lines("SO-50007,", (line) => line.replace(/,(?:open|delivered),/u, ",cancelled,")),
  },
  {
    record: "staff crm/E-20005",
    what: "left: counts as gone after three whole readings; the licence is taken back (M9), the account stays",
    file: "hr/staff.ndjson",
    change: lines('{"employeeId":"E-20005",', () => ""),
  },
  {
    record: "staff crm/E-20003",
    what: "has another name: the account gets it (M2)",
    file: "hr/staff.ndjson",
    change: lines('{"employeeId":"E-20003",', (line) => line.replace(/"fullName":"([^"]*)"/u, '"fullName":"$1 Holm"')),
  },
  {
    record: "customer crm/C-1006",
    what: "has another name: the enterprise gets it (E4)",
    file: "crm/customers.csv",
    change: lines("C-1006,", (line) => line.replace(/^(C-1006,[^,]*)/u, "$1 Nord")),
  },
];

/** Writes the exports of the sample with the edits in them to a folder. Answers whether it had others before. */
export function writeSecondAct(sample: string, folder: string): boolean {
  const paths = edits.map(({ file }) => join(folder, file));
  const texts = (): string[] => paths.map((path) => (existsSync(path) ? readFileSync(path, "utf8") : ""));
  const before = texts();
  copyExports(sample, folder);
  for (const { file, change: edited } of edits) {
    const path = join(folder, file);
    writeFileSync(path, edited(readFileSync(path, "utf8")));
  }
  return texts().some((text, index) => text !== before[index]);
}

/** Writes the exports of the CRM to a folder, anew each time. */
export function copyExports(sample: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  cpSync(sample, folder, { recursive: true });
}

/** Changes the lines of a file that begin so. */
export function change(path: string, start: string, edited: (line: string) => string): void {
  writeFileSync(path, lines(start, edited)(readFileSync(path, "utf8")));
}
