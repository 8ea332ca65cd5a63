import { usage } from "../base/errors.ts";
import type { RecordKey } from "../crm/model.ts";

/** Reads `ALFKI` or `portal/ALFKI` from a command line; the namespace is the configured default unless it is named. */
export function parseKey(text: string, namespace: string): RecordKey {
  const slash = text.indexOf("/");
  const key = slash === -1 ? { namespace, id: text } : { namespace: text.slice(0, slash), id: text.slice(slash + 1) };
  if (key.namespace !== "" && key.id !== "") return key;
  throw usage(`${JSON.stringify(text)} is no record id`, "write it as ID, or NAMESPACE/ID");
}
