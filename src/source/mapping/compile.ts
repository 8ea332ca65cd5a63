import type { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { exitCodes, failed, ok, Problem, type Result } from "../../base/errors.ts";
import {
  type DateZones,
  recordSchemas,
  secretFields,
  type CanonicalRecord,
  type RecordKey,
  type Stream,
} from "../../crm/model.ts";
import { compileCondition, type Holds } from "./condition.ts";
import {
  describeValue,
  type Evaluate,
  type Fault,
  type FilledField,
  type KeyPath,
  type LookupTable,
  type MappingContext,
  type MappingMistake,
  type ReadPath,
} from "./context.ts";
import { createExpressionCompiler } from "./expression.ts";
import { compileFields } from "./fields.ts";
import { formatRawPath, overlaps, parsePath, type Scope } from "./path.ts";
import { targetOf } from "./target.ts";

export type MappingSpec = JsonObject;

/** Key of the stream beside its mapping. No target field has this name. */
const skipKey = "skip";

/** Why a record is unusable. Contains no value of the record except its ids. */
export interface Rejection {
  namespace?: string;
  id?: string;
  /** The customer that the record names, if these fields are readable. */
  customerNamespace?: string;
  customerId?: string;
  /** The target field: `instances[3].term`. Empty for the whole record. */
  field: string;
  code: string;
  message: string;
  expected: string;
}

export interface MappingOptions {
  place?: string;
  /** Namespace if the mapping sets none. Default: `crm`. */
  namespace?: string;
  nullTexts?: readonly string[];
  tables?: ReadonlyMap<string, LookupTable>;
  skip?: Json | undefined;
}

/** Maps a raw record to a canonical one, or says why it is unusable. Never throws for a record. */
export type MapRecord = (raw: JsonObject) => Result<MappedRecord, Rejection>;

/** The usable fields of a raw record. The result may not be a canonical record. */
export type GiveFields = (raw: JsonObject) => JsonObject;

interface Skipped {
  key: RecordKey | undefined;
  /** Its id exists but is unusable, so it may be any record. */
  isNameless: boolean;
}

/** Whether a raw record is skipped; undefined: not skipped. Fails if unknown. */
export type SkipRecord = (raw: JsonObject) => Result<Skipped | undefined, Rejection>;

type MappedRecord = CanonicalRecord & { zones?: DateZones };

/** Read separately if the rest of a record is unusable, to show which record it is and whose. */
const identityFields = ["namespace", "id", "customerNamespace", "customerId"] as const;

interface Compiled {
  evaluate: Evaluate;
  identity: Readonly<Record<(typeof identityFields)[number], Evaluate>>;
  skips: Holds | undefined;
  context: MappingContext;
}

function compile(stream: Stream, spec: MappingSpec, options: MappingOptions): Compiled {
  const context: MappingContext = {
    nullTexts: new Set(options.nullTexts),
    tables: options.tables ?? new Map<string, LookupTable>(),
    secrets: new Set(secretFields[stream]),
    mistakes: [],
    reads: [],
    fields: [],
    fault: undefined,
    leavesOutFaults: false,
    localIn: undefined,
    visited: 0,
    zones: new Map(),
  };
  const compiler = createExpressionCompiler(context, { steps: [], parent: undefined });
  const fields: JsonObject =
    spec["namespace"] === undefined ? { namespace: { value: options.namespace ?? "crm" }, ...spec } : spec;
  const compiled = compileFields(fields, targetOf(stream), [], "", compiler);
  const absent: Evaluate = () => undefined;
  const skips = options.skip === undefined ? undefined : compileCondition(options.skip, [skipKey], compiler);
  checkSecrets(context);
  return {
    evaluate: compiled.evaluate,
    identity: {
      namespace: compiled.fields.get("namespace") ?? absent,
      id: compiled.fields.get("id") ?? absent,
      customerNamespace: compiled.fields.get("customerNamespace") ?? absent,
      customerId: compiled.fields.get("customerId") ?? absent,
    },
    skips,
    context,
  };
}

/** The place of a secret may be read for nothing else: a copy in another field would not be sealed. */
function checkSecrets(context: MappingContext): void {
  for (const secret of context.reads.filter((read) => read.secret)) {
    for (const read of context.reads) {
      if (!read.secret && overlaps(read.steps, secret.steps) && !isContainer(read, secret)) {
        context.mistakes.push({
          path: read.at,
          message:
            `reads ${formatRawPath(read.steps)}, which holds a secret; ` +
            `expected a place that ${secret.at.join(".")} does not read`,
        });
      }
    }
  }
}

/** A list or object on the way to a secret is not the secret. */
function isContainer(read: ReadPath, secret: ReadPath): boolean {
  return read.steps.length < secret.steps.length && read.goesThrough;
}

/** Every raw place that a mapping and the condition under which a record is skipped read, and each field that it fills. */
export function partsOf(
  stream: Stream,
  spec: MappingSpec,
  skip?: Json,
): { reads: readonly ReadPath[]; fields: readonly FilledField[] } {
  const { reads, fields } = compile(stream, spec, { skip }).context;
  return { reads, fields: fields.filter(({ at: [field] }) => spec[String(field)] !== undefined) };
}

export function secretPaths(stream: Stream, spec: MappingSpec): string[] {
  const secrets = partsOf(stream, spec).reads.filter((read) => read.secret);
  return [...new Set(secrets.map((read) => formatRawPath(read.steps)))].sort();
}

/** Paths are inside the mapping, or begin with `skip`. Of tables, only the columns matter. */
export function findMistakes(
  stream: Stream,
  spec: MappingSpec,
  known: Pick<MappingOptions, "skip"> & {
    tables: ReadonlyMap<string, LookupTable>;
    keys?: readonly string[];
  },
): MappingMistake[] {
  const { context } = compile(stream, spec, known);
  for (const key of known.keys ?? []) {
    const parsed = parsePath(key);
    const secret = parsed.ok && context.reads.find((read) => read.secret && overlaps(parsed.value.steps, read.steps));
    if (secret)
      context.mistakes.push({ path: secret.at, message: `is a secret and at the same time the stream's key ${key}` });
  }
  return context.mistakes;
}

export function placeInStream({ path }: MappingMistake): KeyPath {
  return path[0] === skipKey ? path : ["mapping", ...path];
}

/** Throws a Problem (`config.mapping`) that names the first mistake with its key path. */
export function compileStream(
  stream: Stream,
  spec: MappingSpec,
  options: MappingOptions = {},
): { map: MapRecord; gives: GiveFields; skip: SkipRecord | undefined } {
  const { evaluate, identity, skips, context } = compile(stream, spec, options);
  refuseMistakes(stream, context, options.place ?? `${stream}.mapping`);
  const validate = validatorOf(stream);
  const rejected = (fault: Fault, raw: JsonObject): Result<never, Rejection> =>
    failed({
      ...identityOf(identity, raw, context),
      field: fault.field,
      code: fault.code,
      message: faultText(fault.field, fault.found),
      expected: fault.expected,
    });
  const begin = (raw: JsonObject): Scope => {
    context.fault = undefined;
    context.visited = 0;
    context.zones.clear();
    return { item: raw, parent: undefined };
  };
  return {
    map: (raw) => {
      const mapped = evaluate(begin(raw));
      const fault = takeFault(context);
      if (fault !== undefined) return rejected(fault, raw);
      const result = validate(mapped);
      if (result.ok) return withZones(result.value, context);
      return failed({ ...identityOf(identity, raw, context), ...rejectionOf(result.error, mapped) });
    },
    gives: (raw) => {
      context.leavesOutFaults = true;
      const given = evaluate(begin(raw));
      context.leavesOutFaults = false;
      return takeFault(context) === undefined && isJsonObject(given) ? given : {};
    },
    skip:
      skips === undefined
        ? undefined
        : (raw) => {
            const scope = begin(raw);
            const isSkipped = skips(scope);
            const fault = takeFault(context);
            if (fault !== undefined) return rejected({ ...fault, field: skipKey }, raw);
            return ok(isSkipped ? skippedRecord(identity, raw, context) : undefined);
          },
  };
}

/** A skipped record without any id was never known. */
function skippedRecord(identity: Compiled["identity"], raw: JsonObject, context: MappingContext): Skipped {
  const { namespace, id } = identityOf(identity, raw, context);
  if (id !== undefined && namespace !== undefined) return { key: { namespace, id }, isNameless: false };
  const found = identity.id({ item: raw, parent: undefined });
  const fault = takeFault(context);
  return { key: undefined, isNameless: found !== undefined || (fault !== undefined && fault.code !== "missing") };
}

function refuseMistakes(stream: Stream, { mistakes }: MappingContext, place: string): void {
  const [wrong, ...others] = mistakes;
  if (wrong === undefined) return;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const at = wrong.path.join(".") || "its top";
  throw new Problem({
    code: "config.mapping",
    message: `The mapping of ${stream} has a mistake at ${at}: ${wrong.message}${more}`,
    cure: "Correct the mapping in the configuration.",
    place: [place.replace(/\.mapping$/, ""), ...placeInStream(wrong)].join("."),
    exitCode: exitCodes.configuration,
  });
}

function withZones(record: CanonicalRecord, { zones }: MappingContext): Result<MappedRecord, never> {
  const local = [...zones].flatMap(([field, zone]) => (zone === null ? [] : [[field, zone] as const]));
  return ok(local.length === 0 ? record : { ...record, zones: Object.fromEntries(local) });
}

function takeFault(context: MappingContext): Fault | undefined {
  const { fault } = context;
  context.fault = undefined;
  return fault;
}

function identityOf(
  identity: Compiled["identity"],
  raw: JsonObject,
  context: MappingContext,
): Pick<Rejection, (typeof identityFields)[number]> {
  const found: Pick<Rejection, (typeof identityFields)[number]> = {};
  const scope = { item: raw, parent: undefined };
  for (const name of identityFields) {
    const value = identity[name](scope);
    const fault = takeFault(context);
    if (fault === undefined && typeof value === "string" && value !== "" && value.length <= 200) found[name] = value;
  }
  return found;
}

function validatorOf(stream: Stream): (mapped: Json | undefined) => Validated {
  switch (stream) {
    case "customers":
      return (mapped) => validated(recordSchemas.customers, mapped, (record) => ({ stream, record }));
    case "orders":
      return (mapped) => validated(recordSchemas.orders, mapped, (record) => ({ stream, record }));
    case "staff":
      return (mapped) => validated(recordSchemas.staff, mapped, (record) => ({ stream, record }));
  }
}

type Validated = Result<CanonicalRecord, z.core.$ZodIssue | undefined>;

function validated<Of>(schema: z.ZodType<Of>, mapped: unknown, made: (record: Of) => CanonicalRecord): Validated {
  const parsed = schema.safeParse(mapped);
  return parsed.success ? ok(made(parsed.data)) : failed(parsed.error.issues[0]);
}

function faultText(field: string, found: string): string {
  const name = field === "" ? "the record" : field;
  return found === describeValue(undefined) ? `${name} is missing` : `${name}: found ${found}`;
}

function rejectionOf(
  issue: z.core.$ZodIssue | undefined,
  mapped: Json | undefined,
): Omit<Rejection, (typeof identityFields)[number]> {
  const steps = (issue?.path ?? []).map((step) => (typeof step === "number" ? step : String(step)));
  let value: Json | undefined = mapped;
  for (const step of steps) {
    if (typeof value !== "object" || value === null) value = undefined;
    else if (Array.isArray(value)) value = typeof step === "number" ? value[step] : undefined;
    else value = value[step];
  }
  const field = formatRawPath(steps);
  return {
    field,
    code: value === undefined ? "missing" : "does-not-fit",
    message: faultText(field, describeValue(value)),
    expected: expectedBy(issue),
  };
}

function expectedBy(issue: z.core.$ZodIssue | undefined): string {
  switch (issue?.code) {
    case "invalid_type":
      return `a value of the type ${issue.expected}`;
    case "too_small":
      return `at least ${String(issue.minimum)} (${issue.origin})`;
    case "too_big":
      return `at most ${String(issue.maximum)} (${issue.origin})`;
    case "invalid_format":
      return `the format ${issue.pattern ?? issue.format}`;
    case "invalid_value":
      return `one of ${issue.values.map(String).join(", ")}`;
    default:
      return "a value that fits this field";
  }
}
