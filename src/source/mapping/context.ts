import type { Json } from "../../base/canonical-json.ts";
import type { Scope } from "./path.ts";

/** Where something stands in the mapping: `["instances", 1, "fields", "term"]`. */
export type KeyPath = readonly (string | number)[];

/** Something wrong in a mapping itself, whatever the records are. */
export interface MappingMistake {
  path: KeyPath;
  /** What was found and what is expected. */
  message: string;
  /** The names of which one is expected, where the last step of the path is no known name. */
  names?: readonly string[];
}

/** What one expression of a mapping does with an item. Undefined means that there is nothing. */
export type Evaluate = (scope: Scope) => Json | undefined;

/** Why a value of a record cannot be used. */
export interface Fault {
  /** The target field, filled in on the way out of nested lists: `instances[3].term`. */
  field: string;
  code: string;
  /** What was found, by type, length and shape only. */
  found: string;
  expected: string;
}

/**
 * A raw place that a mapping reads, as steps from the top of the record; `everyElement` stands for every element of a
 * list.
 */
export interface ReadPath {
  steps: readonly (string | number)[];
  secret: boolean;
  at: KeyPath;
  /** Only the members of its elements are looked at, each by a path of its own. */
  goesThrough: boolean;
}

/** A target field that a mapping fills, or a condition of the list that is one. */
export interface FilledField {
  /** The target field: `name`, `instances[].term`. */
  field: string;
  /** Which kind of object the field is of, where its list holds several. */
  kind: string | undefined;
  /** Where the expression stands in the mapping. */
  at: KeyPath;
  expression: Json;
  /** Gives no value: it is the `skip` of the stream, or `when` or `each` of a list. */
  isCondition: boolean;
}

/** What the parts of one mapping share while it is compiled, and the fault of the record being mapped. */
export interface MappingContext {
  readonly nullTexts: ReadonlySet<string>;
  readonly tables: ReadonlyMap<string, LookupTable>;
  /** The target fields that hold secrets: `password`, `assets[].password`. */
  readonly secrets: ReadonlySet<string>;
  readonly mistakes: MappingMistake[];
  readonly reads: ReadPath[];
  /** The target fields that it fills, in the order of the mapping. */
  readonly fields: FilledField[];
  /** Set by the first expression that cannot use what it found; everything above it stops. */
  fault: Fault | undefined;
  /** Set while the record is mapped field by field: one that has a fault is left out, and the others are mapped. */
  leavesOutFaults: boolean;
  /** Set by an expression that read a local time: the zone in which it read it. */
  localIn: string | undefined;
  /** Elements that the lists of the record being mapped were gone through for. */
  visited: number;
  /** The zone of each date of the record being mapped, by field; null where that is none, or not one throughout. */
  readonly zones: Map<string, string | null>;
}

/** Where the items of a scope are in the raw record; undefined where they are computed and not read from one place. */
export interface ScopeOrigin {
  steps: readonly (string | number)[] | undefined;
  parent: ScopeOrigin | undefined;
}

export function mistake(context: MappingContext, path: KeyPath, message: string, names?: readonly string[]): Evaluate {
  context.mistakes.push({ path, message, ...(names === undefined ? {} : { names }) });
  return () => undefined;
}

/** Records the fault of the record being mapped; the first one counts. */
export function refuse(context: MappingContext, code: string, found: Json | undefined, expected: string): undefined {
  context.fault ??= { field: "", code, found: describeValue(found), expected };
  return undefined;
}

/** A value by type, length and shape, never itself: `text of 10 characters in the form "9999-99-99"`. */
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

/** What a plain path reads, and where in the raw record it leads. */
interface CompiledPath {
  read: Evaluate;
  /** Undefined where it starts at something that was computed. */
  steps: readonly (string | number)[] | undefined;
}

/** A list that an expression gives, and a compiler for what is asked of each of its elements. */
export interface CompiledElements {
  /** The elements; undefined where there is no list, or a fault. One object or value alone counts as a list of one. */
  read: (scope: Scope) => readonly Json[] | undefined;
  inside: ExpressionCompiler;
}

/** Compiles the expressions that stand in one scope of a mapping. */
export interface ExpressionCompiler {
  readonly context: MappingContext;
  readonly origin: ScopeOrigin;
  /** An expression of any kind. */
  expression(spec: Json | undefined, at: KeyPath): Evaluate;
  /**
   * An expression that gives a list. `goesThrough`: of its elements nothing is used but what expressions of their own
   * read of them.
   */
  elements(spec: Json | undefined, at: KeyPath, goesThrough: boolean): CompiledElements;
  /** A plain path; undefined, with a mistake, where the text is no path. */
  path(text: string, at: KeyPath, how?: { secret?: boolean; goesThrough?: boolean }): CompiledPath | undefined;
}

/** The column of a table with several that is found where `lookup` names none. */
export const valueColumn = "";

/** A look-up table: what stands in its columns for each key. */
export interface LookupTable {
  /** The names of its columns. */
  readonly columns: readonly string[];
  /** By key a text for each of the columns: undefined where nothing stands there. */
  readonly rows: ReadonlyMap<string, readonly (string | undefined)[]>;
}

/** A table that has one value a key. */
export function valueTable(entries: Readonly<Record<string, string>>): LookupTable {
  return { columns: [valueColumn], rows: new Map(Object.entries(entries).map(([key, value]) => [key, [value]])) };
}
