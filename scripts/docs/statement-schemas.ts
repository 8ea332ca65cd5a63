import { statements } from "../../src/inquiry/statement/statement.ts";
import { statementJsonSchema } from "./statement-schema.ts";

/** The JSON Schema of each kind of statement, by the name of its file in `docs/`. */
export const statementSchemas: Readonly<Record<string, () => string>> = Object.fromEntries(
  Object.values(statements).map(({ shape }) => [
    `reference/statements/${shape.kind}.schema.json`,
    () => `${JSON.stringify(statementJsonSchema(shape), null, 2)}\n`,
  ]),
);
