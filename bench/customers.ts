import { closeSync, openSync, writeSync } from "node:fs";

/** The columns of the generated CRM export. */
const columns = ["number", "company", "kind", "branch", "city", "street", "contact", "mail", "phone"] as const;

const cities = ["Berlin", "Lyon", "Porto", "Graz", "Turku", "Gdansk", "Utrecht", "Bergen"];

/** The number of a customer, counted from 1. */
export function customerId(index: number): string {
  return `C${String(index).padStart(8, "0")}`;
}

function row(index: number, street: string): string {
  const city = cities[index % cities.length] ?? "Berlin";
  const phone = `138${String(index).padStart(8, "0")}`;
  return (
    `${customerId(index)},"Company ${index}, Ltd.",company,B${index % 16},${city},${(index % 300) + 1} ` +
    `${street},Contact ${index},contact${index}@example.com,${phone}\n`
  );
}

/** Writes a CSV file of `count` customers, the same each time; `moved` lives in another street. */
export function writeCustomers(path: string, count: number, moved?: { index: number; street: string }): void {
  writeRows(path, columns, count, (index) => row(index, moved?.index === index ? moved.street : "Main Street"));
}

/** Writes a CSV file, in pieces. */
export function writeRows(
  path: string,
  head: readonly string[],
  count: number,
  rowOf: (index: number) => string,
): void {
  const file = openSync(path, "w");
  try {
    let text = `${head.join(",")}\n`;
    for (let index = 1; index <= count; index += 1) {
      text += rowOf(index);
      if (text.length < 65_536) continue;
      writeSync(file, text);
      text = "";
    }
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}
