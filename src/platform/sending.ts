import type { JsonObject } from "../base/canonical-json.ts";
import type { WriteCall } from "./call.ts";

/** The particulars of a write with its body, as an object and, where the caller has made it already, as text. */
export function sending(call: WriteCall, body: JsonObject) {
  const { body: bodyText, ...rest } = call;
  return { ...rest, body, bodyText };
}
