import { hash } from "node:crypto";

/** What JSON can hold. `undefined` members are left out, as JSON.stringify does. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };
export type JsonObject = { [key: string]: Json | undefined };

/**
 * JSON with the members of every object in code-unit order, no white space and `undefined` members left out (after RFC
 * 8785), so that equal values have equal text and equal hashes. Throws a TypeError for a number that JSON cannot hold.
 * Not the package canonicalize: it refuses half a surrogate pair, which raw records may hold and stored hashes cover.
 */
export function canonicalJson(value: Json): string {
  return written(value, "");
}

/** A text with the canonical JSON of a value behind it: one text grows, none is put together from parts. */
function written(value: Json, before: string): string {
  if (typeof value === "string") return before + JSON.stringify(value);
  if (value === null || typeof value === "boolean") return before + String(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`${value} cannot be written as JSON`);
    return before + String(value);
  }
  return Array.isArray(value) ? writtenList(value, before) : writtenMembers(value, before);
}

function writtenList(list: readonly Json[], before: string): string {
  let text = `${before}[`;
  for (let index = 0; index < list.length; index += 1) {
    if (index > 0) text += ",";
    text = written(list[index] ?? null, text);
  }
  return `${text}]`;
}

/** Members are taken by their place: one by its name costs several times as much. */
function writtenMembers(value: JsonObject, before: string): string {
  const { places, firsts, others } = shapeOf(Object.keys(value));
  const members = Object.values(value);
  let text = before;
  let beginnings = firsts;
  for (let index = 0; index < places.length; index += 1) {
    const member = members[places[index] ?? 0];
    if (member === undefined) continue;
    text += beginnings[index];
    beginnings = others;
    if (typeof member === "string") text += JSON.stringify(member);
    else text = written(member, text);
  }
  return beginnings === firsts ? `${text}{}` : `${text}}`;
}

/** The names of an object's members as they stand in it, and in code-unit order where each of them stands. */
interface Shape {
  names: readonly string[];
  places: readonly number[];
  /** How each begins its member, as the first one of the text and as another one. */
  firsts: readonly string[];
  others: readonly string[];
}

/** The last shapes for each number of members, newest last: the objects of a program have few. */
const lastShapes: Shape[][] = [];
const mostMembers = 100;
const mostShapes = 8;

function shapeOf(names: readonly string[]): Shape {
  const known = lastShapes[names.length];
  for (const shape of known ?? []) if (sameNames(shape.names, names)) return shape;
  const made = newShape(names);
  if (known === undefined) {
    if (names.length <= mostMembers) lastShapes[names.length] = [made];
  } else {
    if (known.length === mostShapes) known.shift();
    known.push(made);
  }
  return made;
}

function newShape(names: readonly string[]): Shape {
  const placeOf = new Map(names.map((name, place) => [name, place]));
  const inOrder = names.toSorted();
  const begins = inOrder.map((name) => `${JSON.stringify(name)}:`);
  return {
    names,
    places: inOrder.map((name) => placeOf.get(name) ?? 0),
    firsts: begins.map((begin) => `{${begin}`),
    others: begins.map((begin) => `,${begin}`),
  };
}

function sameNames(left: readonly string[], right: readonly string[]): boolean {
  for (let index = 0; index < left.length; index += 1) if (left[index] !== right[index]) return false;
  return true;
}

/** Reads JSON. Throws a SyntaxError for what is none. */
export const parseJson: (text: string) => Json = JSON.parse;

/** Whether something is an object with members: neither null nor a list. */
export function isJsonObject(value: Json | undefined): value is JsonObject;
export function isJsonObject(value: unknown): value is Record<string, unknown>;
export function isJsonObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads JSON that has to be an object. Throws a TypeError for anything else. */
export function parseJsonObject(text: string): JsonObject {
  const value = parseJson(text);
  if (isJsonObject(value)) return value;
  throw new TypeError("it is no JSON object");
}

/** Plain data as JSON. Members that JSON cannot hold are left out. */
export function toJson(value: unknown): Json {
  return parseJson(JSON.stringify(value));
}

/** SHA-256 of a text (UTF-8), 64 lower-case hex characters. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** SHA-256 over the canonical JSON of a value. */
export function hashOf(value: Json): string {
  return sha256(canonicalJson(value));
}

/** Whether a JSON text has more members than the value that was parsed from it. */
export function hasRepeatedMember(text: string, members: number): boolean {
  return countColons(text) !== members && countMembers(text) !== members;
}

/** Every member has a colon; there can be more of them, inside texts. */
function countColons(text: string): number {
  let count = 0;
  for (let position = text.indexOf(":"); position !== -1; position = text.indexOf(":", position + 1)) count += 1;
  return count;
}

/** Colons outside texts, one for each member as written. The text is known to be JSON. */
function countMembers(text: string): number {
  let count = 0;
  let quote = text.indexOf('"');
  let colon = text.indexOf(":");
  while (colon !== -1) {
    if (quote === -1 || colon < quote) {
      count += 1;
      colon = text.indexOf(":", colon + 1);
      continue;
    }
    let end = text.indexOf('"', quote + 1);
    while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
    if (end === -1) return count;
    quote = text.indexOf('"', end + 1);
    if (colon < end) colon = text.indexOf(":", end + 1);
  }
  return count;
}

function isEscaped(text: string, position: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(position - 1 - backslashes) === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}
