import { sql } from "kysely";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Resource } from "../../engine/model/resource.ts";
import { compareBytes } from "../../engine/model/state.ts";
import { mostObservations, type ExplainFacts } from "../../report/explain.ts";
import { recordName } from "../../report/text.ts";
import type { AssignmentTable } from "./state.ts";

interface AssignmentFacts {
  assetNumber: string;
  staff: RecordKey;
  memberGlobalId: string;
  origin: "granted" | "adopted";
  from: string;
  /** Null: held now. */
  to: string | null;
  /** Null: adopted. */
  operationId: string | null;
  /** Null: not by crm-sync. */
  endedBy: string | null;
}

declare module "../../report/explain.ts" {
  interface ExplainFacts {
    assignments?: AssignmentFacts[];
  }
}

export const explain: NonNullable<Resource["explain"]> = {
  async load(db, { stream, key, numbers }) {
    let query = db.selectFrom("assignment").selectAll();
    if (stream === "staff") query = query.where("namespace", "=", key.namespace).where("staff_id", "=", key.id);
    else if (stream === "orders")
      query = query.where(sql<boolean>`asset_number in (select value from json_each(${JSON.stringify(numbers)}))`);
    else query = query.where("customer_namespace", "=", key.namespace).where("customer_id", "=", key.id);
    const held = await query.where("to_at", "is", null).execute();
    const newest = query.where("to_at", "is not", null).orderBy("to_at", "desc").limit(mostObservations);
    const ended = stream === "customers" ? [] : await newest.execute();
    return { assignments: [...held, ...ended].toSorted(byNumber).map(factsOf) };
  },
  lines: (facts) =>
    (facts.assignments ?? []).flatMap((item) => {
      const whose = facts.stream === "staff" ? "" : ` to staff ${formatKey(item.staff)}`;
      return item.to === null ? [`asset ${item.assetNumber} ${item.origin}${whose}`] : [];
    }),
  events: (facts) =>
    (facts.assignments ?? []).flatMap(({ assetNumber, origin, staff, from, to, operationId, endedBy }) => {
      const begun = `asset ${assetNumber} ${origin}${whoseText(facts, staff)}`;
      const over = `asset ${assetNumber} ${endedBy === null ? "found gone" : "taken back"}`;
      return [
        { at: from, operationId, text: begun },
        ...(to === null ? [] : [{ at: to, operationId: endedBy, text: over }]),
      ];
    }),
};

function whoseText({ stream }: ExplainFacts, staff: RecordKey): string {
  return stream === "staff" ? "" : ` to ${recordName("staff", staff)}`;
}

function byNumber(one: AssignmentTable, other: AssignmentTable): number {
  return compareBytes(one.asset_number, other.asset_number) || compareBytes(other.from_at, one.from_at);
}

function factsOf(row: AssignmentTable): AssignmentFacts {
  return {
    assetNumber: row.asset_number,
    staff: { namespace: row.namespace, id: row.staff_id },
    memberGlobalId: row.member_global_id,
    origin: row.origin,
    from: row.from_at,
    to: row.to_at,
    operationId: row.operation_id,
    endedBy: row.ended_by,
  };
}
