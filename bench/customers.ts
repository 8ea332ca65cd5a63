import { closeSync, openSync, writeSync } from "node:fs";

/** The columns of the generated CRM export. */
export const columns = ["number", "company", "kind", "branch", "city", "street", "contact", "mail", "phone"] as const;

const cities = ["Berlin", "Lyon", "Porto", "Graz", "Turku", "Gdansk", "Utrecht", "Bergen"];

function row(index: number): string {
  const id = `C${String(index).padStart(8, "0")}`;
  const city = cities[index % cities.length] ?? "Berlin";
  const phone = `138${String(index).padStart(8, "0")}`;
  return (
    `${id},"Company ${index}, Ltd.",company,B${index % 16},${city},${(index % 300) + 1} ` +
    `Main Street,Contact ${index},contact${index}@example.com,${phone}\n`
  );
}

/** Writes a CSV file of `count` customers, the same each time. */
export function writeCustomers(path: string, count: number): void {
  const file = openSync(path, "w");
  try {
    let text = `${columns.join(",")}\n`;
    for (let index = 1; index <= count; index += 1) {
      text += row(index);
      if (text.length < 65_536) continue;
      writeSync(file, text);
      text = "";
    }
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}
