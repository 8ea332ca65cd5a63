import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { asked } from "./asked.ts";

/** The branch that looks after a customer, or else the one that it had first. */
export interface Branches {
  /** When something happened. */
  at(customer: RecordKey, instant: string): string | null;
  /** At the end of a time, to which the moment itself does not belong. */
  before(customer: RecordKey, moment: string): string | null;
}

interface Since {
  since: string;
  branch: string | null;
}

const branchesOf = asked<RecordKey, Since>(`select c.from_at as since, c.body ->> '$.branchCode' as branch
  from record_version c where c.stream = 'customers' and c.namespace = @namespace and c.id = @id order by c.version`);

/** Customers whose branches are kept: one after another is asked for many times. */
const mostKept = 1000;

/** The branches of customers through time. */
export function branches(ledger: ReadOnlyLedger): Branches {
  const known = new Map<string, readonly Since[]>();
  const of = ({ namespace, id }: RecordKey): readonly Since[] => {
    const key = formatKey({ namespace, id });
    let all = known.get(key);
    if (all === undefined) {
      if (known.size >= mostKept) known.clear();
      known.set(key, (all = branchesOf(ledger, { namespace, id })));
    }
    return all;
  };
  const latest = (customer: RecordKey, isThen: (since: string) => boolean): string | null => {
    const all = of(customer);
    return (all.findLast(({ since }) => isThen(since)) ?? all[0])?.branch ?? null;
  };
  return {
    at: (customer, instant) => latest(customer, (since) => since <= instant),
    before: (customer, moment) => latest(customer, (since) => since < moment),
  };
}
