import type { Stream } from "../crm/model.ts";
import { renderTable } from "./table.ts";
import type { View } from "./text.ts";
import { ageOf } from "./text.ts";

/** Whether what a stream of a source no longer has is judged to be gone, and why not. */
export interface AbsenceFacts {
  source: string;
  stream: Stream;
  judged: boolean;
  /** Why it is not judged; null where it is. */
  why: string | null;
  /** When the newest whole read of a run ended. */
  lastWhole: string | null;
  /** Records that the last whole reads lack and that do not count as gone yet; `since` is the first of them. */
  missing: number;
  since: string | null;
}

/** A read as far as absence depends on it. */
export interface AbsenceRead {
  finishedAt: string | null;
  complete: boolean;
  doubted: boolean;
  absence: string | null;
}

/** What two reads say: the newest one of all, and the newest whole and complete one of a run. */
export function judgementOf(
  last: AbsenceRead | undefined,
  whole: AbsenceRead | undefined,
): Pick<AbsenceFacts, "judged" | "why"> {
  const not = (why: string): Pick<AbsenceFacts, "judged" | "why"> => ({ judged: false, why });
  if (last === undefined) return not("it was never read");
  if (last.finishedAt === null) return not("the last read was cut off");
  if (last.doubted) return not("the last read is not believed: it lost too many records");
  if (!last.complete) return not("the last read was not complete");
  if (whole === undefined) return not("no run has read it whole yet");
  return whole.absence === null || whole.absence === "judged" ? { judged: true, why: null } : not(whole.absence);
}

/** A line for each stream: whether its missing records come to count as deleted. */
export function absenceTable(rows: readonly AbsenceFacts[], now: string, view: View): string | undefined {
  if (rows.length === 0) return undefined;
  return renderTable(
    [
      { title: "source" },
      { title: "stream" },
      { title: "missing now", align: "right" },
      { title: "since" },
      { title: "counts as deleted" },
      { title: "read whole" },
      { title: "because" },
    ],
    rows.map((row) => [
      row.source,
      row.stream,
      row.missing,
      row.since === null ? null : `${ageOf(row.since, now)} ago`,
      row.judged ? "after enough full reads" : "no",
      row.lastWhole === null ? "never" : `${ageOf(row.lastWhole, now)} ago`,
      row.why,
    ]),
    view,
  );
}
