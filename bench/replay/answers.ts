import { customerId } from "../customers.ts";
import { customerOf, linesOf, orderId, ordersOfCustomer } from "../orders.ts";
import type { Memory } from "./memory.ts";

/** Calls that the replay server can answer, as it counts them. */
export const replayed = ["E2", "E3", "E4", "E5", "E8", "E9", "M5", "M6", "M7", "M8"] as const;
export type Replayed = (typeof replayed)[number];

const at = 1_790_000_000_000;

function success(data: string): string {
  return `{"code":0,"message":"success","data":${data}}`;
}

function between(text: string, before: string, after: string): string {
  const start = text.indexOf(before);
  if (start === -1) return "";
  const from = start + before.length;
  const end = text.indexOf(after, from);
  return end === -1 ? "" : text.slice(from, end);
}

/** The number in an id such as C00000012, O00000012 or gC00000012. */
function indexIn(id: string): number {
  return Number(/\d+$/u.exec(id)?.[0] ?? "0");
}

function platformCustomer(id: string, number: number): string {
  return (
    `{"customerId":"${number}${id}","channelCode":"crm","channelCustomerId":"${id}` +
    `","enterpriseGlobalId":"g${id}","enterpriseName":"Enterprise ${id}","isDefault":${number === 1}}`
  );
}

function staffRow(gid: string, number: number, userName: string): string {
  return (
    `{"id":"${number}","userId":"${number}","globalId":"${gid}m${number}` +
    `","enterpriseId":"1","departmentId":null,"departmentName":null,"userName":"` +
    `${userName}@e1","passwordMobile":null,"name":"${userName}` +
    `","assetNums":[],"borrowNum":null,"onlineFlag":false,"remark":null,"deleted":false,"updateTime":` +
    `${at},"createTime":${at},"boundUserInfo":null}`
  );
}

/** E9 hands out numbers of ten digits. */
const digitsOf = (number: number): string => `8${String(number).padStart(9, "0")}`;
const numberIn = (digits: string): number => Number(digits.slice(1));

const lookUp = "/enterprise/user/query?";
const create = "/enterprise/user/create?";
const update = "/enterprise/user/update?";
const placeOrders = "/licenseOrder/batchOrder?";
const takeNumbers = "/shellnums?";
const members = "/members?";
const assetNumbers = "/asset/assetNums?";
const contents = "/merchandiseProducts?";
const virtualAssets = "/list?";
const locksForLending = "/borrowUsbKeys?";

/**
 * The recorded answer to a request: `target` is path and query, `body` the request's text. Nothing is validated.
 * Undefined for a call that was not recorded.
 */
export function answerTo(target: string, body: string, memory: Memory): { call: Replayed; answer: string } | undefined {
  if (target.includes(lookUp)) {
    const id = between(`${target}&`, "channelCustomerId=", "&");
    const customers = memory.isCreated(indexIn(id)) ? `[${platformCustomer(id, 1)},${platformCustomer(id, 2)}]` : "[]";
    return { call: "E3", answer: success(customers) };
  }
  if (target.includes(create)) return { call: "E2", answer: createAnswer(body, memory) };
  if (target.includes(placeOrders)) return { call: "E5", answer: orderAnswer(body, memory) };
  if (target.includes(members)) return { call: "M5", answer: membersAnswer(between(target, "/enterprise/", "/")) };
  if (target.includes(assetNumbers))
    return { call: "M6", answer: assetsAnswer(between(target, "/enterprise/", "/"), memory) };
  if (target.includes(contents)) return { call: "M7", answer: contentsAnswer(between(target, "/asset/", "/"), memory) };
  if (target.includes(locksForLending)) return { call: "M8", answer: success("[]") };
  if (target.includes(virtualAssets)) return { call: "E8", answer: success("[]") };
  if (target.includes(update)) return { call: "E4", answer: success("null") };
  if (target.includes(takeNumbers)) {
    const size = Number(/"size":(\d+)/u.exec(body)?.[1] ?? "1");
    const first = memory.takeNumbers(size);
    const numbers = Array.from({ length: size }, (_, index) => `"${digitsOf(first + index)}"`);
    return { call: "E9", answer: success(`[${numbers.join(",")}]`) };
  }
  return undefined;
}

function createAnswer(body: string, memory: Memory): string {
  const id = between(body, '"crmCustomerId":"', '"');
  memory.create(indexIn(id));
  return success(
    `{"enterpriseGlobalId":"g${id}","defaultType":true,"members":[{"memberGlobalId":"g${id}` +
      `m1","memberIdentity":"administrator"},{"memberGlobalId":"g${id}m2","memberIdentity":"staff"}]}`,
  );
}

/** Each order of the export is one record with one asset number. */
function orderAnswer(body: string, memory: Memory): string {
  const order = indexIn(between(body, '"channelOrderId":"', '"'));
  memory.place(order, numberIn(between(body, '"assetNos":["', '"')));
  const sequence = /"sequence":(-?\d+)/u.exec(body)?.[1] ?? "1";
  const customer = between(body, '"customerId":"', '"');
  return success(`[{"sequence":${sequence},"licenseOrderId":"L${order}","customerId":"${customer}"}]`);
}

function membersAnswer(gid: string): string {
  return success(
    `{"pageNum":1,"pageSize":50,"size":2,"orderBy":null,"startRow":1,"endRow":2,"total":2,"pages":1,` +
      `"list":[${staffRow(gid, 1, "admin")},${staffRow(gid, 2, "staff")}],"firstPage":1,"prePage":0,` +
      '"nextPage":0,"lastPage":1,"isFirstPage":true,"isLastPage":true,"hasPreviousPage":false,' +
      '"hasNextPage":false,"navigatePages":8,"navigatepageNums":[1]}',
  );
}

function assetsAnswer(gid: string, memory: Memory): string {
  const last = indexIn(gid) * ordersOfCustomer;
  const rows = Array.from({ length: ordersOfCustomer }, (_, index) => memory.numberOf(last - index))
    .filter((number) => number > 0)
    .map(
      (number) =>
        `{"assetNum":"${digitsOf(number)}","assetId":"a${number}","cloudAccountGlobalId":null,` +
        '"borrowedFlag":false,"onlineFlag":false}',
    );
  return success(`[${rows.join(",")}]`);
}

function contentsAnswer(assetId: string, memory: Memory): string {
  const number = indexIn(assetId);
  const order = memory.orderOf(number);
  const id = orderId(order);
  const products = linesOf(order).map(
    ({ product, quantity }, line) =>
      `{"id":"p${number}${line}","licenseType":"cloud_account","customerId":"1${customerId(customerOf(order))}",` +
      `"assetId":"${assetId}","assetInsId":null,"merchandiseInsId":null,"assetNum":"${digitsOf(number)}",` +
      `"productUri":"${product}","gmsPid":"${product}","appKey":"","productName":"Product ${product}",` +
      `"channelCode":"crm","licenseOrderId":"L${order}","channelOrderId":"${id}","limitStartTime":null,` +
      `"limitEndTime":null,"limitAmount":0,"limitConcurrent":${quantity},"limitTimeDuration":0,"trial":0,` +
      `"trialEndDate":0,"limitType":"basic","prodDefExtend":false,"timeDurationExpression":"0-0-0",` +
      `"srcLicenseOrderId":null,"createTime":${at},"updateTime":null,"activateFlag":false,` +
      `"crmProductId":"${id}-${product}","productExtendInstanceList":[]}`,
  );
  return success(`{"productInstanceList":[${products.join(",")}],"children":[]}`);
}
