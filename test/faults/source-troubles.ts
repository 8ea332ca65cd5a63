import { appendFileSync, mkdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Format } from "./exports.ts";

/** What can be wrong with a file of people, in each format, and how the run with it ends. */

export interface Trouble {
  /** How the first run with the spoiled source ends; 0 only where the input is really the same or is believed. */
  exit: 0 | 3 | 7;
  /** What it says about the source. */
  says: RegExp;
  /** Whether the newcomer, who stands in the same file, is added all the same. */
  newcomer: boolean;
  /** Pages of it were taken before it was cut: the next run goes on with it. */
  isCut?: boolean;
  /** Something that goes on while the source is read, until it is called off. */
  during?: (path: string) => () => void;
  /** What has to be undone before a whole export can be written. */
  after?: (path: string) => void;
}

export interface FileTrouble extends Trouble {
  file: string;
  /** What stands in the file, made of what should stand there; or what is done to it. */
  spoil: (content: string, path: string) => string | Buffer | void;
}

export const lines = (text: string): string[] => text.split(/(?<=\n)/u);
/** The header, where there is one, and this many rows. */
const rows = (count: number, header: 0 | 1) => (text: string) =>
  lines(text)
    .slice(0, count + header)
    .join("");
const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");
export const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
export const shrank =
  /source crm\/staff: the source lost \d+ of 20 records \(\d+\.0 %\).+staff\.\w+|source crm\/staff: the source lost/u;

/**
 * Appends whole rows, or cuts the last one off, each time the event loop comes round: a reading comes round several
 * times.
 */
function restless(change: (path: string) => void): NonNullable<Trouble["during"]> {
  return (path) => {
    let on = true;
    const step = (): void => {
      if (!on) return;
      change(path);
      setImmediate(step);
    };
    setImmediate(step);
    return () => {
      on = false;
    };
  };
}

const common = (file: string, header: 0 | 1): Record<string, FileTrouble> => ({
  "is empty": { file, spoil: () => "", exit: 7, says: shrank, newcomer: false },
  "lost a fifth of its rows": { file, spoil: rows(16, header), exit: 7, says: shrank, newcomer: true },
  "lost a little less than a fifth": { file, spoil: rows(17, header), exit: 0, says: /All is well/u, newcomer: true },
  "has a row twice": {
    file,
    spoil: (text) => text + (lines(text).at(-1) ?? ""),
    exit: 0,
    says: /All is well/u,
    newcomer: true,
  },
  "has the key of a row twice, the second time with less": {
    file,
    spoil: (text) => text + (lines(text).at(-1) ?? "").replace("A4-5", ""),
    exit: 3,
    says: /\d+ records? in quarantine \(exit 3\)/u,
    newcomer: true,
  },
  "begins with a byte order mark": {
    file,
    spoil: (text) => `\uFEFF${text}`,
    exit: 0,
    says: /All is well/u,
    newcomer: true,
  },
  "is UTF-16": {
    file,
    spoil: (text) => utf16(`\uFEFF${text}`),
    exit: 7,
    says: /staff\.\w+ is configured as utf-8, but its beginning shows that it is utf-16le[^]+Set `encoding: utf-16le`/u,
    newcomer: false,
  },
  "is missing": {
    file,
    spoil: (_, path) => rmSync(path),
    exit: 7,
    says: /The file \S*staff\.\w+ is missing\.\n +→ Export it again/u,
    newcomer: false,
  },
  "is a folder": {
    file,
    spoil: (_, path) => {
      rmSync(path);
      mkdirSync(path);
      return undefined;
    },
    exit: 7,
    says: /The file staff\.\w+ cannot be used: it is a folder\./u,
    newcomer: false,
  },
  "grows while it is read": {
    file,
    spoil: (text) => text,
    during: restless((path) => appendFileSync(join(path, file), "\n")),
    exit: 7,
    says: /The file staff\.\w+ changed while crm-sync read it/u,
    newcomer: false,
  },
});

const csvOnly: Record<string, FileTrouble> = {
  "holds nothing but its header": { file: "staff.csv", spoil: rows(0, 1), exit: 7, says: shrank, newcomer: false },
  "shrinks while it is read": {
    file: "staff.csv",
    spoil: (text) => text,
    during: restless((path) =>
      truncateSync(join(path, "staff.csv"), Math.max(400, statSync(join(path, "staff.csv")).size - 1)),
    ),
    exit: 7,
    says: /The file staff\.csv (?:changed while crm-sync read it|ends in the middle of a line)/u,
    newcomer: false,
  },
  "is UTF-16 without a mark": {
    file: "staff.csv",
    spoil: utf16,
    exit: 7,
    says: /staff\.csv is configured as utf-8, but its beginning shows that it is utf-16le[^]+Set `encoding: utf-16le`/u,
    newcomer: false,
  },
  "is Latin-1": {
    file: "staff.csv",
    spoil: latin1,
    exit: 7,
    says: /staff\.csv is not UTF-8 everywhere[^]+Set `encoding`/u,
    newcomer: false,
  },
  "has another delimiter": {
    file: "staff.csv",
    spoil: (text) => text.replaceAll(",", ";"),
    exit: 7,
    says: /staff\.csv has no column "id"[^\n]+one column with ";" in it, perhaps the delimiter\.\n +→/u,
    newcomer: false,
  },
  "has another name for the column of what people hold": {
    file: "staff.csv",
    spoil: (text) => text.replace("holds", "assets"),
    exit: 7,
    says: /The file staff\.csv has no column "holds"/u,
    newcomer: false,
  },
  "has another name for the column of its keys": {
    file: "staff.csv",
    spoil: (text) => text.replace("id", "number"),
    exit: 7,
    says: /The file staff\.csv has no column "id"/u,
    newcomer: false,
  },
  "has lost the column of what people hold": {
    file: "staff.csv",
    spoil: (text) => text.replaceAll(/,[^,\n]*$/gmu, ""),
    exit: 7,
    says: /The file staff\.csv has no column "holds"/u,
    newcomer: false,
  },
  "is the page of a proxy": {
    file: "staff.csv",
    spoil: () => "<html>\n<body>502 Bad Gateway</body>\n</html>\n",
    exit: 7,
    says: /The file staff\.csv has no column "id"/u,
    newcomer: false,
  },
};

const joinedOnly: Record<string, FileTrouble> = {
  "holds nothing but its header": {
    file: "holds.csv",
    spoil: rows(0, 1),
    exit: 7,
    says: /lost 20 of 20 rows of holds/u,
    newcomer: false,
  },
  "is empty": { file: "holds.csv", spoil: () => "", exit: 7, says: /lost 20 of 20 rows of holds/u, newcomer: false },
  "lost a fifth of its rows": {
    file: "holds.csv",
    spoil: rows(16, 1),
    exit: 7,
    says: /lost 4 of 20 rows of holds/u,
    newcomer: false,
  },
  "was cut in the middle of a row": {
    file: "holds.csv",
    spoil: (text) => text.slice(0, -3),
    exit: 7,
    says: /The file holds\.csv ends in the middle of a line: the row at holds\.csv:21/u,
    newcomer: false,
  },
  "is missing": {
    file: "holds.csv",
    spoil: (_, path) => rmSync(path),
    exit: 7,
    says: /holds\.csv is missing/u,
    newcomer: false,
  },
  "has another name for a column": {
    file: "holds.csv",
    spoil: (text) => text.replace("asset", "number"),
    exit: 7,
    says: /The file holds\.csv has no column "asset"/u,
    newcomer: false,
  },
};

const quarantined = /\d+ records? in quarantine \(exit 3\)/u;
const linesOnly: Record<string, FileTrouble> = {
  "is Latin-1": { file: "staff.ndjson", spoil: latin1, exit: 3, says: quarantined, newcomer: false },
  "is UTF-16 without a mark": {
    file: "staff.ndjson",
    spoil: utf16,
    exit: 7,
    says: /staff\.ndjson is configured as utf-8, but its beginning shows that it is utf-16le[^]+Set `encoding: utf-16le`/u,
    newcomer: false,
  },
  "has another name for the keys": {
    file: "staff.ndjson",
    spoil: (text) => text.replaceAll('"id"', '"number"'),
    exit: 7,
    says: /id was filled in \d+ of \d+ rows and is in none of \d+/u,
    newcomer: false,
  },
  "is the page of a proxy": {
    file: "staff.ndjson",
    spoil: () => "<html>\n<body>502 Bad Gateway</body>\n</html>\n",
    exit: 7,
    says: shrank,
    newcomer: false,
  },
};

export const people = z.looseObject({ people: z.array(z.record(z.string(), z.unknown())) });
export type People = z.infer<typeof people>["people"];
const asPeople =
  (change: (list: People) => People) =>
  (text: string): string =>
    JSON.stringify({ people: change(people.parse(JSON.parse(text)).people) });
const json = "staff.json";
const jsonOnly: Record<string, FileTrouble> = {
  "holds an empty list": { file: json, spoil: asPeople(() => []), exit: 7, says: shrank, newcomer: false },
  "is empty": { file: json, spoil: () => "", exit: 7, says: /staff\.json is cut off/u, newcomer: false },
  "lost a fifth of its records": {
    file: json,
    spoil: asPeople((list) => list.slice(0, 16)),
    exit: 7,
    says: shrank,
    newcomer: true,
  },
  "lost a little less than a fifth": {
    file: json,
    spoil: asPeople((list) => list.slice(0, 17)),
    exit: 0,
    says: /All is well/u,
    newcomer: true,
  },
  "has a record twice": {
    file: json,
    spoil: asPeople((list) => [...list, ...list.slice(-1)]),
    exit: 0,
    says: /All is well/u,
    newcomer: true,
  },
  "has the key of a record twice, the second time with less": {
    file: json,
    spoil: asPeople((list) => [...list, ...list.slice(-1).map((person) => ({ ...person, holds: [] }))]),
    exit: 3,
    says: quarantined,
    newcomer: true,
  },
  "begins with a byte order mark": {
    file: json,
    spoil: (text) => `\uFEFF${text}`,
    exit: 0,
    says: /All is well/u,
    newcomer: true,
  },
  "is UTF-16": {
    file: json,
    spoil: (text) => utf16(`\uFEFF${text}`),
    exit: 7,
    says: /Set `encoding: utf-16le`/u,
    newcomer: false,
  },
  "is Latin-1": {
    file: json,
    spoil: latin1,
    exit: 7,
    says: /staff\.json is not valid JSON at or after staff\.json#\/people\/0\.\n +→ Export/u,
    newcomer: false,
  },
  "has its list under another name": {
    file: json,
    spoil: (text) => text.replace('"people"', '"persons"'),
    exit: 7,
    says: /staff\.json has no list at people\.\n +→ Correct `records`/u,
    newcomer: false,
  },
  "is missing": {
    file: json,
    spoil: (_, path) => rmSync(path),
    exit: 7,
    says: /staff\.json is missing/u,
    newcomer: false,
  },
  "is the page of a proxy": {
    file: json,
    spoil: () => "<html>502</html>",
    exit: 7,
    says: /staff\.json is not valid JSON at or after its beginning/u,
    newcomer: false,
  },
};

export const tables: [Format, Record<string, FileTrouble>][] = [
  ["csv", { ...common("staff.csv", 1), ...csvOnly }],
  ["joined", joinedOnly],
  ["ndjson", { ...common("staff.ndjson", 0), ...linesOnly }],
  ["json", jsonOnly],
];
