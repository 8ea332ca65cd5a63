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
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`${value} cannot be written as JSON`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    let text = "[";
    for (let index = 0; index < value.length; index += 1) {
      if (index > 0) text += ",";
      text += canonicalJson(value[index] ?? null);
    }
    return `${text}]`;
  }
  let text = "{";
  const { inOrder, prefixes } = shapeOf(Object.keys(value));
  for (let index = 0; index < inOrder.length; index += 1) {
    const member = value[inOrder[index] ?? ""];
    if (member === undefined) continue;
    if (text.length > 1) text += ",";
    text += prefixes[index];
    text += typeof member === "string" ? JSON.stringify(member) : canonicalJson(member);
  }
  return `${text}}`;
}

/** The names of an object's members as they stand in it, in code-unit order, and each as it begins its member. */
interface Shape {
  names: readonly string[];
  inOrder: readonly string[];
  prefixes: readonly string[];
}

/** The last shapes for each number of members, newest last: the objects of a program have few. */
const lastShapes: Shape[][] = [];
const mostMembers = 100;
const mostShapes = 8;

function shapeOf(names: readonly string[]): Shape {
  const known = lastShapes[names.length];
  for (const shape of known ?? []) if (sameNames(shape.names, names)) return shape;
  const inOrder = names.toSorted();
  const made: Shape = { names, inOrder, prefixes: inOrder.map((name) => `${JSON.stringify(name)}:`) };
  if (known === undefined) {
    if (names.length <= mostMembers) lastShapes[names.length] = [made];
  } else {
    if (known.length === mostShapes) known.shift();
    known.push(made);
  }
  return made;
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
