/** What was looked at, and whether it is as it should be. */
export interface Finding {
  what: string;
  good: boolean;
  /** Good, and worth a look: nothing is stopped by it. */
  warning?: true;
  kind: "configuration" | "ledger" | "source" | "records" | "service" | "setting";
  detail: string;
  /** Where it is: a file with line and column, or an address. */
  place?: string;
  cure?: string;
}

/** What is not as it should be, and how it is mended. */
export function bad(kind: Finding["kind"], what: string, detail: string, cure: string): Finding {
  return { what, good: false, kind, detail, cure };
}

/** What is good, and worth a look. */
export function doubtful(...of: Parameters<typeof bad>): Finding {
  return { ...bad(...of), good: true, warning: true };
}
