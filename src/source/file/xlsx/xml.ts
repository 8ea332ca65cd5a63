import { SaxesParser } from "saxes";
import type { OpenedFile } from "../bytes.ts";
import { damaged } from "./archive.ts";

/** What is told while a file of a workbook is read; names are without their prefix. */
export interface XmlEvents {
  open?: (name: string, attributes: Readonly<Record<string, string>>) => void;
  text?: (text: string) => void;
  close?: (name: string) => void;
}

/** Reads XML and yields after each piece. Throws a Problem for what is no XML, was cut, or has a document type. */
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
  parser.on("opentag", ({ name, attributes }) => events.open?.(localName(name), attributes));
  parser.on("text", (text) => events.text?.(text));
  parser.on("cdata", (text) => events.text?.(text));
  parser.on("closetag", ({ name }) => events.close?.(localName(name)));
  const decode = (chunk?: Buffer): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (thrown) {
      throw damaged(file, thrown);
    }
  };
  for await (const chunk of chunks) {
    parser.write(decode(chunk));
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
