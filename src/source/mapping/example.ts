import type { Json, JsonObject } from "../../base/canonical-json.ts";

/** An expression on a raw record, with what it gives or the code of its refusal. Neither: it gives nothing. */
export interface ExpressionExample {
  expression: Json;
  record: JsonObject;
  gives?: Json;
  refused?: string;
}
