export interface Finding {
  what: string;
  good: boolean;
  /** Good, but worth a look. Stops nothing. */
  warning?: true;
  kind: "configuration" | "ledger" | "source" | "records" | "service" | "setting";
  detail: string;
  /** A file with line and column, or an address. */
  place?: string;
  cure?: string;
}

export function bad(kind: Finding["kind"], what: string, detail: string, cure: string): Finding {
  return { what, good: false, kind, detail, cure };
}

export function doubtful(...of: Parameters<typeof bad>): Finding {
  return { ...bad(...of), good: true, warning: true };
}
