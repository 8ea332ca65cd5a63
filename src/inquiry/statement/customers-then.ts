import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { asked } from "./asked.ts";

/** Who looked after a customer and where it stood at some time, or else first. */
export interface CustomersThen {
  /** The code of its branch when something happened. */
  branchAt(this: void, customer: RecordKey, instant: string): string | null;
  /** The code of its branch at the end of a time, to which the moment itself does not belong. */
  branchBefore(this: void, customer: RecordKey, moment: string): string | null;
  /** The enterprise that it was linked with when something happened. */
  enterpriseAt(this: void, customer: RecordKey, instant: string): string | null;
}

interface Since {
  since: string;
  value: string | null;
}

const branchesOf = asked<RecordKey, Since>(`select c.from_at as since, c.body ->> '$.branchCode' as value
  from record_version c where c.stream = 'customers' and c.namespace = @namespace and c.id = @id order by c.version`);

const enterprisesOf = asked<RecordKey, Since>(`select k.from_at as since, k.enterprise_global_id as value
  from link k where k.namespace = @namespace and k.customer_id = @id order by k.from_at`);

/** Customers of whom is kept what was read: one customer is asked about many times. */
const mostKept = 2000;

/** The branches and enterprises of customers through time. */
export function customersThen(ledger: ReadOnlyLedger): CustomersThen {
  const branches = latest((customer) => branchesOf(ledger, customer));
  const enterprises = latest((customer) => enterprisesOf(ledger, customer));
  return {
    branchAt: (customer, instant) => branches(customer, (since) => since <= instant),
    branchBefore: (customer, moment) => branches(customer, (since) => since < moment),
    enterpriseAt: (customer, instant) => enterprises(customer, (since) => since <= instant),
  };
}

function latest(
  read: (customer: RecordKey) => readonly Since[],
): (customer: RecordKey, isThen: (since: string) => boolean) => string | null {
  const known = new Map<string, readonly Since[]>();
  return ({ namespace, id }, isThen) => {
    const key = formatKey({ namespace, id });
    let all = known.get(key);
    if (all === undefined) {
      if (known.size >= mostKept) known.clear();
      known.set(key, (all = read({ namespace, id })));
    }
    return (all.findLast(({ since }) => isThen(since)) ?? all[0])?.value ?? null;
  };
}
