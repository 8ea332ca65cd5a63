import { z } from "zod";
import { streams } from "../../src/crm/model.ts";
import type { JsonSchema } from "../../src/config/schema.ts";
import { mappingDefinitions } from "./mapping-schema.ts";
import { definition, mappingName } from "./target-schema.ts";

/**
 * The schema of the configuration for editors: what stands in several places is defined once, the inside of mappings,
 * conditions and tables is known.
 */
export function editorSchemaOf(schema: z.ZodType): JsonSchema {
  const whole = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "ref" });
  const definitions = { ...whole.$defs };
  for (const one of Object.values(definitions)) spellOut(one);
  const root = { ...whole, $defs: { ...definitions, ...mappingDefinitions() } };
  spellOut(root.properties ?? {});
  const sources = followed(root.properties?.["sources"], root);
  const source = followed(sources.additionalProperties, root);
  for (const kind of source.oneOf ?? [])
    giveMappings(followed(followed(kind, root).properties?.["streams"], root), root);
  return root;
}

type Node = JsonSchema | boolean | undefined;

function followed(schema: Node, root: JsonSchema): JsonSchema {
  if (typeof schema !== "object") throw new TypeError("the schema of the configuration has another form");
  const name = /^#\/\$defs\/(.+)$/u.exec(schema.$ref ?? "")?.[1];
  return name === undefined ? schema : followed(root.$defs?.[name], root);
}

/** What `written` says of a schema, as a schema. */
function spellOut(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  for (const inner of Object.values(schema)) spellOut(inner);
  if (!("written" in schema) || typeof schema.written !== "string") return;
  const said = spelled[schema.written];
  delete schema.written;
  if (said !== undefined) Object.assign(schema, said);
}

const spelled: Readonly<Record<string, JsonSchema>> = {
  path: definition("path"),
  table: { anyOf: [{ required: ["value"] }, { required: ["columns"] }] },
  entries: {
    anyOf: [
      { additionalProperties: { type: ["string", "number", "boolean"] } },
      { additionalProperties: { type: "object" } },
    ],
  },
};

/** Gives each stream of a kind of source the mapping of its own target fields. */
function giveMappings(all: JsonSchema, root: JsonSchema): void {
  for (const stream of streams) {
    const plain = all.properties?.[stream];
    const settings = followed(plain, root);
    const skip = settings.properties?.["skip"];
    if (settings.properties !== undefined && skip !== undefined) {
      const { description = "", examples = [] } = followed(skip, root);
      settings.properties["skip"] = { ...definition("condition"), description, examples };
    }
    if (all.properties !== undefined && typeof plain === "object")
      all.properties[stream] = { allOf: [plain, { properties: { mapping: definition(mappingName(stream)) } }] };
  }
}
