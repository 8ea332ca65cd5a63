import { hash } from "node:crypto";

/** `undefined` members are left out, as by JSON.stringify. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };
export type JsonObject = { [key: string]: Json | undefined };

/**
 * Members in code-unit order, no white space, `undefined` left out (after RFC 8785). Throws a TypeError for NaN or
 * Infinity. Not the package canonicalize: it rejects half a surrogate pair, which raw records may have and stored
 * hashes cover.
 */
export function canonicalJson(value: Json): string {
  return written(value, "");
}

/** Appends to `before`: one growing text is faster than joined parts. */
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

/** By position: access by name costs several times as much. */
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

interface Shape {
  names: readonly string[];
  places: readonly number[];
  firsts: readonly string[];
  others: readonly string[];
}

/** By number of members, the newest last. A program has few shapes. */
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

export const parseJson: (text: string) => Json = JSON.parse;

export function isJsonObject(value: Json | undefined): value is JsonObject;
export function isJsonObject(value: unknown): value is Record<string, unknown>;
export function isJsonObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws a TypeError unless the JSON is an object. */
export function parseJsonObject(text: string): JsonObject {
  const value = parseJson(text);
  if (isJsonObject(value)) return value;
  throw new TypeError("it is no JSON object");
}

/** Members that JSON cannot hold are left out. */
export function toJson(value: unknown): Json {
  return parseJson(JSON.stringify(value));
}

/** 64 lower-case hex characters. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

export function hashOf(value: Json): string {
  return sha256(canonicalJson(value));
}

/** `members`: the number of members of the parsed value. */
export function hasRepeatedMember(text: string, members: number): boolean {
  return countColons(text) !== members && countMembers(text) !== members;
}

function countColons(text: string): number {
  let count = 0;
  for (let position = text.indexOf(":"); position !== -1; position = text.indexOf(":", position + 1)) count += 1;
  return count;
}

/** Colons outside of texts. The text must be valid JSON. */
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
