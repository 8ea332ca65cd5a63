import { minorDigits } from "../../crm/currency.ts";
import { xmlText } from "./sheet-xml.ts";

/** The styles of cells, by their place in the workbook's list. */
export const styles = {
  plain: 0,
  heading: 1,
  text: 2,
  integer: 3,
  date: 4,
  instant: 5,
  title: 6,
  label: 7,
  numberHeading: 8,
  /** An instant between two seconds: rounded, the last one of a month would be shown in the next. */
  fineInstant: 9,
} as const;

/** Number format, font, fill, and whether it stands at the right; in the order of `styles`. */
const fixedStyles = [
  [0, 0, 0],
  [49, 1, 2],
  [49, 0, 0],
  [3, 0, 0],
  [164, 0, 0],
  [165, 0, 0],
  [49, 2, 0],
  [49, 1, 0],
  [49, 1, 2, 1],
  [166, 0, 0],
];

const timeFormats = ["yyyy\\-mm\\-dd", "yyyy\\-mm\\-dd\\ hh:mm:ss", "yyyy\\-mm\\-dd\\ hh:mm:ss.000"];
const firstOfTimes = 164;
const firstOfMoney = firstOfTimes + timeFormats.length;
/** Spreadsheet programs refuse a workbook with more than about 200 formats of its own. */
const mostFormats = 150;

/** The styles of a workbook: the fixed ones, and one for the amounts of each currency that comes. */
export interface SheetStyles {
  /** The style of amounts in a currency. */
  money(currency: string): number;
  /** The file of styles; written when all cells are. */
  xml(): string;
}

export function sheetStyles(): SheetStyles {
  const formats = new Map<string, number>();
  const byCurrency = new Map<string, number>();
  const styleOf = (currency: string): number => {
    const digits = minorDigits(currency);
    const number = `#,##0${digits === 0 ? "" : `.${"0".repeat(digits)}`}`;
    const format = formats.size < mostFormats ? `${number}\\ [$${currency}]` : number;
    const known = formats.get(format);
    if (known !== undefined) return known;
    const style = fixedStyles.length + formats.size;
    formats.set(format, style);
    return style;
  };
  return {
    money(currency) {
      const known = byCurrency.get(currency) ?? styleOf(currency);
      byCurrency.set(currency, known);
      return known;
    },
    xml: () => stylesXml([...formats.keys()]),
  };
}

function stylesXml(moneyFormats: readonly string[]): string {
  const formats = [...timeFormats, ...moneyFormats].map(
    (code, index) => `<numFmt numFmtId="${firstOfTimes + index}" formatCode="${xmlText(code)}"/>`,
  );
  const cells = [...fixedStyles, ...moneyFormats.map((_format, index) => [firstOfMoney + index, 0, 0])].map(
    ([format, font, fill, right]) =>
      `<xf numFmtId="${format}" fontId="${font}" fillId="${fill}" borderId="0" xfId="0" ` +
      'applyNumberFormat="1" applyFont="1" applyFill="1"' +
      (right === 1 ? ' applyAlignment="1"><alignment horizontal="right"/></xf>' : "/>"),
  );
  const font = (size: number, bold: boolean): string =>
    `<font>${bold ? "<b/>" : ""}<sz val="${size}"/><name val="Calibri"/><family val="2"/></font>`;
  return (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">' +
    `<numFmts count="${formats.length}">${formats.join("")}</numFmts>` +
    `<fonts count="3">${font(11, false)}${font(11, true)}${font(16, true)}</fonts>` +
    '<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>' +
    '<fill><patternFill patternType="solid"><fgColor rgb="FFE7ECF3"/><bgColor indexed="64"/></patternFill></fill>' +
    "</fills>" +
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `<cellXfs count="${cells.length}">${cells.join("")}</cellXfs>` +
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
  );
}
