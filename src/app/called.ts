import type { RecordKey } from "../crm/model.ts";
import { formatKey } from "../crm/keys.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import type { Called } from "../engine/model/operation-line.ts";

/**
 * What the ledger calls things, looked up as they are shown. Companies and products have names for everybody; people only
 * where `showsPeople`: then the audit log has said who sees them. Ids of the usual namespace stand alone.
 */
export function calledIn(
  inquiry: Inquiry,
  { namespace, showsPeople }: { namespace: string; showsPeople: boolean },
): Called {
  const record = (key: RecordKey): string => (key.namespace === namespace ? key.id : formatKey(key));
  const companies = remembered(async (key: RecordKey) => await inquiry.companyNames(key), formatKey);
  const parts = remembered(
    async ([order, instanceId]: [RecordKey, string]) => await inquiry.productNames({ order, instanceId }),
    ([order, instanceId]) => `${formatKey(order)} ${instanceId}`,
  );
  return {
    record,
    async person(key) {
      const name = showsPeople ? await personName(inquiry, key) : undefined;
      return name === undefined ? record(key) : `${name} (${record(key)})`;
    },
    async company(customer, commitment) {
      const names = await companies(customer);
      return (commitment === undefined ? names[0] : names.find((one) => one.commitment === commitment))?.name;
    },
    async productsOf(asset) {
      const part = await inquiry.partOfAsset(asset);
      return part === undefined ? [] : await parts([part.order, part.instanceId]);
    },
    productsIn: async (order, instanceId) => await parts([order, instanceId]),
  };
}

async function personName(inquiry: Inquiry, key: RecordKey): Promise<string | undefined> {
  const shown = await inquiry.privateValues("staff", key);
  return shown?.values.find(({ field }) => field === "name")?.value;
}

/** Each question is put once. */
function remembered<Key, Answer>(
  ask: (key: Key) => Promise<Answer>,
  nameOf: (key: Key) => string,
): (key: Key) => Promise<Answer> {
  const answers = new Map<string, Promise<Answer>>();
  return async (key) => {
    const answer = answers.get(nameOf(key)) ?? ask(key);
    answers.set(nameOf(key), answer);
    return await answer;
  };
}
