import { formatKey } from "../../crm/keys.ts";
import type { StateChange } from "../../engine/model/state.ts";

/** Links in an audit entry; null if a link ended. `live` in `unsaidLink` builds the same from the tables. */
export function saidLinks(changes: readonly StateChange[]): { links?: Record<string, string | null> } {
  const links = Object.fromEntries(changes.flatMap((change) => saidBy(change) ?? []));
  return Object.keys(links).length === 0 ? {} : { links };
}

function saidBy(change: StateChange): [[string, string | null]] | undefined {
  switch (change.type) {
    case "linked":
      return [[`customer:${formatKey(change.customer)}`, change.link.enterpriseGlobalId]];
    case "unlinked":
      return [[`customer:${formatKey(change.customer)}`, null]];
    case "staff-linked":
    case "staff-unlinked": {
      const account = change.type === "staff-linked" ? change.memberGlobalId : null;
      return [[`staff:${formatKey(change.staff)} of ${formatKey(change.customer)}`, account]];
    }
    default:
      return undefined;
  }
}

/** A link in the tables that does not match its last audit entry. `said` and `sequence` are null without an entry. */
export interface UnsaidLink {
  subject: string;
  id: string;
  said: string | null;
  sequence: number | null;
}

export const unsaidLink = `
  with said as (
    select link.key as subject, link.value as said, max(entry.sequence) as sequence
    from audit entry, json_each(entry.body, '$.links') link
    where entry.body like '%"links":{%' group by link.key
  ), live as (
    select 'customer:' || namespace || '/' || customer_id as subject, enterprise_global_id as id
    from link where to_at is null
    union all
    select 'staff:' || namespace || '/' || staff_id || ' of ' || customer_namespace || '/' || customer_id, member_global_id
    from staff_link where to_at is null
  )
  select live.subject, live.id, said.said, said.sequence from live left join said on said.subject = live.subject
  where said.said is not live.id limit 1`;
