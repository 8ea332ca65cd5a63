import type { Json } from "../../base/canonical-json.ts";
import type { Scope } from "./path.ts";

/** For example `["instances", 1, "fields", "term"]`. */
export type KeyPath = readonly (string | number)[];

export interface MappingMistake {
  path: KeyPath;
  message: string;
  /** Valid names, if the last step of the path is an unknown name. */
  names?: readonly string[];
}

export type Evaluate = (scope: Scope) => Json | undefined;

export interface Fault {
  /** With all lists around it: `instances[3].term`. */
  field: string;
  code: string;
  /** Only type, length and shape. */
  found: string;
  expected: string;
}

/** `steps` begin at the top of the record; `everyElement` means every list element. */
export interface ReadPath {
  steps: readonly (string | number)[];
  secret: boolean;
  at: KeyPath;
  /** The elements are only passed through; other paths read their members. */
  goesThrough: boolean;
}

export interface FilledField {
  field: string;
  /** The kind of object, if the list holds several kinds. */
  kind: string | undefined;
  at: KeyPath;
  expression: Json;
  /** The `skip` of the stream, or `when` or `each` of a list: it fills no field. */
  isCondition: boolean;
}

/** State shared while one mapping is compiled, and the fault of the mapped record. */
export interface MappingContext {
  readonly nullTexts: ReadonlySet<string>;
  readonly tables: ReadonlyMap<string, LookupTable>;
  readonly secrets: ReadonlySet<string>;
  readonly mistakes: MappingMistake[];
  readonly reads: ReadPath[];
  readonly fields: FilledField[];
  /** Set by the first expression that cannot use its value. Expressions around it stop. */
  fault: Fault | undefined;
  /** Used where fields are mapped separately: a faulty field is left out. */
  leavesOutFaults: boolean;
  /** Zone of the last local time read. */
  localIn: string | undefined;
  visited: number;
  /** Zone of each date of the record, by field. Null: no zone, or several. */
  readonly zones: Map<string, string | null>;
}

/** `steps`: place of the items in the raw record. Undefined if they are computed. */
export interface ScopeOrigin {
  steps: readonly (string | number)[] | undefined;
  parent: ScopeOrigin | undefined;
}

export function mistake(context: MappingContext, path: KeyPath, message: string, names?: readonly string[]): Evaluate {
  context.mistakes.push({ path, message, ...(names === undefined ? {} : { names }) });
  return () => undefined;
}

/** Only the first fault of a record counts. */
export function refuse(context: MappingContext, code: string, found: Json | undefined, expected: string): undefined {
  context.fault ??= { field: "", code, found: describeValue(found), expected };
  return undefined;
}

/** Describes a value without showing it: `text of 10 characters in the form "9999-99-99"`. */
export function describeValue(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") {
    if (value.length > 40) return `text of ${value.length} characters`;
    return `text of ${value.length} characters in the form ${JSON.stringify(shapeOf(value))}`;
  }
  if (typeof value === "number") return `a number in the form ${shapeOf(String(value))}`;
  if (typeof value === "boolean") return "a boolean";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return "an object";
}

function shapeOf(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\p{N}/gu, "9")
    .replaceAll(/\p{Lu}/gu, "A")
    .replaceAll(/[\p{L}\p{M}]/gu, (letter) => (letter === "A" ? "A" : "a"))
    .replaceAll(/[\p{C}]/gu, "?");
}

interface CompiledPath {
  read: Evaluate;
  steps: readonly (string | number)[] | undefined;
}

export interface CompiledElements {
  /** Undefined if there is no list, or a fault. A single object or value counts as a list of one. */
  read: (scope: Scope) => readonly Json[] | undefined;
  inside: ExpressionCompiler;
}

export interface ExpressionCompiler {
  readonly context: MappingContext;
  readonly origin: ScopeOrigin;
  expression(spec: Json | undefined, at: KeyPath): Evaluate;
  /** An expression that gives a list. `goesThrough`: only other expressions read its elements. */
  elements(spec: Json | undefined, at: KeyPath, goesThrough: boolean): CompiledElements;
  /** Undefined, with a mistake, if the text is not a path. */
  path(text: string, at: KeyPath, how?: { secret?: boolean; goesThrough?: boolean }): CompiledPath | undefined;
}

/** The column that `lookup` uses if it names none. */
export const valueColumn = "";

export interface LookupTable {
  readonly columns: readonly string[];
  /** Key → a text per column; undefined if the column is empty. */
  readonly rows: ReadonlyMap<string, readonly (string | undefined)[]>;
}

export function valueTable(entries: Readonly<Record<string, string>>): LookupTable {
  return { columns: [valueColumn], rows: new Map(Object.entries(entries).map(([key, value]) => [key, [value]])) };
}
