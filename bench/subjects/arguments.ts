import { parseArgs } from "node:util";

/** What each way of doing the same work is told. */
export interface SubjectArguments {
  baseUrl: string;
  /** The CRM export. */
  csv: string;
  /** An own folder, for what is recorded. */
  directory: string;
  /** Calls at once. */
  lanes: number;
}

/** Reads the arguments of a measured program; no library, so that the floor stays bare. */
export function subjectArguments(): SubjectArguments {
  const { values } = parseArgs({
    options: {
      "base-url": { type: "string" },
      csv: { type: "string" },
      directory: { type: "string" },
      lanes: { type: "string" },
    },
    strict: false,
  });
  return {
    baseUrl: text(values["base-url"], "base-url"),
    csv: text(values["csv"], "csv"),
    directory: text(values["directory"], "directory"),
    lanes: Number(text(values["lanes"], "lanes")),
  };
}

/** The value of an argument that has to be there. */
export function text(value: unknown, name: string): string {
  if (typeof value !== "string") throw new Error(`--${name} is missing`);
  return value;
}
