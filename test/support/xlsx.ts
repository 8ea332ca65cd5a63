import { crc32, deflateRawSync } from "node:zlib";

/** A ZIP archive of these files. `declared` replaces the size that the archive says a file has inside. */
export function zip(files: Record<string, string | Buffer>, declared: Record<string, number> = {}): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(declared[name] ?? bytes.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), common, rest, Buffer.from(name)]));
    bodies.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(18);
  const listed = Buffer.concat(directory);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, listed, Buffer.from("PK\x05\x06"), end]);
}

/** Cells of a row: a text, or the XML of a cell without its reference, such as `<c t="b"><v>1</v></c>`. */
type Cells = readonly string[];

interface WorkbookOptions {
  is1904?: boolean;
  /** Number formats; a cell of the style 1 has the first of them. */
  formats?: readonly string[];
  /** The `state` of sheets by their names. */
  states?: Record<string, string>;
  /** Instead of what this would write. */
  parts?: Record<string, string>;
}

const xml = (text: string): string => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${text}`;
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const types = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

function relations(of: [type: string, target: string][]): string {
  const items = of.map(
    ([type, target], at) => `<Relationship Id="r${at}" Type="${types}/${type}" Target="${target}"/>`,
  );
  return xml(`<Relationships>${items.join("")}</Relationships>`);
}

/** The files of a workbook with these sheets, as a spreadsheet program writes them: texts are shared. */
export function workbookParts(sheets: Record<string, Cells[]>, options: WorkbookOptions = {}): Record<string, string> {
  const { is1904 = false, formats = [], states = {}, parts = {} } = options;
  const texts: string[] = [];
  const cell = (text: string): string => {
    if (text.startsWith("<")) return text;
    if (text === "") return "<c/>";
    texts.push(`<si><t xml:space="preserve">${escaped(text)}</t></si>`);
    return `<c t="s"><v>${texts.length - 1}</v></c>`;
  };
  const written = Object.entries(sheets).map(([name, rows], at) => ({
    name,
    part: `worksheets/sheet${at + 1}.xml`,
    text: rows.map((cells, row) => `<row r="${row + 1}">${cells.map(cell).join("")}</row>`).join(""),
  }));
  const listed = written.map(({ name }, at) => {
    const state = states[name] === undefined ? "" : ` state="${states[name]}"`;
    return `<sheet name="${escaped(name)}" sheetId="${at + 1}"${state} r:id="r${at}"/>`;
  });
  const styles = formats.map(
    (code, at) => `<numFmt numFmtId="${200 + at}" formatCode="${escaped(code).replaceAll('"', "&quot;")}"/>`,
  );
  const xfs = ["0", ...formats.map((_, at) => String(200 + at))].map((id) => `<xf numFmtId="${id}"/>`);
  return {
    "[Content_Types].xml": xml("<Types/>"),
    "_rels/.rels": relations([["officeDocument", "xl/workbook.xml"]]),
    "xl/workbook.xml": xml(
      `<workbook xmlns:r="${types}"><workbookPr date1904="${is1904 ? 1 : 0}"/><sheets>${listed.join("")}</sheets></workbook>`,
    ),
    "xl/_rels/workbook.xml.rels": relations([
      ...written.map(({ part }): [string, string] => ["worksheet", part]),
      ["sharedStrings", "sharedStrings.xml"],
      ["styles", "/xl/styles.xml"],
    ]),
    "xl/styles.xml": xml(
      `<styleSheet><numFmts>${styles.join("")}</numFmts><cellXfs>${xfs.join("")}</cellXfs></styleSheet>`,
    ),
    ...Object.fromEntries(
      written.map(({ part, text }) => [`xl/${part}`, xml(`<worksheet><sheetData>${text}</sheetData></worksheet>`)]),
    ),
    "xl/sharedStrings.xml": xml(`<sst>${texts.join("")}</sst>`),
    ...parts,
  };
}

/** A workbook with these sheets. */
export function workbook(sheets: Record<string, Cells[]>, options?: WorkbookOptions): Buffer {
  return zip(workbookParts(sheets, options));
}

/** The rows of a CSV text without quotes, as rows of a sheet. */
export function rowsOfCsv(csv: string, delimiter = ","): string[][] {
  return csv
    .trimEnd()
    .split(/\r?\n/u)
    .map((line) => line.split(delimiter));
}
