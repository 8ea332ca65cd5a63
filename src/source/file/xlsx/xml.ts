import { SaxesParser } from "saxes";
import type { OpenedFile } from "../bytes.ts";
import { damaged } from "./archive.ts";

/** What is told while a file of a workbook is read; names are without their prefix. */
export interface XmlEvents {
  open?: (name: string, attributes: Readonly<Record<string, string>>) => void;
  text?: (text: string) => void;
  close?: (name: string) => void;
}

/** Longest text or tag: far more than a cell of a spreadsheet holds. The parser keeps each in memory. */
const longestPiece = 16_777_216;

/**
 * Reads XML and yields after each piece. Throws a Problem for XML that is broken, was cut, has a document type, or has a
 * text or a tag that is far longer than any real one.
 */
export async function* readXml(
  chunks: AsyncIterable<Buffer>,
  events: XmlEvents,
  file: OpenedFile,
): AsyncGenerator<void, void, void> {
  const parser = new SaxesParser();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  parser.on("error", (error) => {
    throw damaged(file, error);
  });
  parser.on("doctype", () => {
    throw damaged(file, new Error("its XML declares a document type"));
  });
  let unfinished = 0;
  const ended = (): void => {
    unfinished = 0;
  };
  parser.on("opentag", ({ name, attributes }) => {
    ended();
    events.open?.(localName(name), attributes);
  });
  for (const kind of ["text", "cdata"] as const)
    parser.on(kind, (text) => {
      ended();
      events.text?.(text);
    });
  parser.on("closetag", ({ name }) => {
    ended();
    events.close?.(localName(name));
  });
  const decode = (chunk?: Buffer): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (thrown) {
      throw damaged(file, thrown);
    }
  };
  for await (const chunk of chunks) {
    unfinished += chunk.length;
    parser.write(decode(chunk));
    if (unfinished > longestPiece) throw damaged(file, new Error("its XML has a text or a tag without end"));
    yield;
  }
  parser.write(decode()).close();
}

/** Reads all of it. */
export async function readWholeXml(chunks: AsyncIterable<Buffer>, events: XmlEvents, file: OpenedFile): Promise<void> {
  for await (const _ of readXml(chunks, events, file));
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** An attribute, whatever its prefix is: `r:id`. */
export function attributeOf(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  const found = Object.entries(attributes).find(([key]) => localName(key) === name);
  return found?.[1];
}
