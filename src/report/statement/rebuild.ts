import type { PartRow, StatementShape } from "./shape.ts";

/** One thing that a rebuild said of itself. */
export interface RebuildPart {
  run: string;
  at: string;
  /** `lost`: not brought back; `assumed`: taken for granted; `left`: to be done; `never`: kinds that no rebuild has. */
  part: "lost" | "assumed" | "left" | "never";
  record: string | null;
  why: string;
}

/** What rebuilds of the ledger could not bring back. */
export const rebuildStatement: StatementShape = {
  kind: "rebuild",
  version: 1,
  title: "Rebuilds of the ledger",
  about: "What each rebuild of the ledger said that it did not bring back, took for granted, or left to be done.",
  parts: [
    {
      name: "rebuild",
      title: "Rebuilds",
      about: "One row for each thing that a rebuild said of itself.",
      groupBy: "part",
      columns: [
        { name: "run", type: "text", title: "Run", about: "The run that built the ledger anew." },
        { name: "at", type: "instant", title: "Begun", about: "When that run began." },
        {
          name: "part",
          type: "text",
          title: "Part",
          about:
            "`lost`: not brought back; `assumed`: taken for granted; `left`: to be done; `never`: no rebuild has it.",
        },
        { name: "record", type: "text", title: "Record", about: "The record that it is about, where it is about one." },
        { name: "why", type: "text", title: "Why", about: "What happened, in words." },
      ],
    },
  ],
};

/** One thing that a rebuild said of itself, as a row. */
export function rebuildRow({ run, at, part, record, why }: RebuildPart): PartRow {
  return { part: "rebuild", row: { run, at, part, record, why } };
}
