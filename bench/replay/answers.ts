/** Calls that the replay server can answer, as it counts them. */
export const replayed = ["E2", "E3", "E8", "M5", "M6"] as const;
export type Replayed = (typeof replayed)[number];

/** The customers that were created so far: the only thing that makes an answer differ from the one before. */
export type Created = Pick<Set<string>, "add" | "has">;

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

const lookUp = "/enterprise/user/query?";
const create = "/enterprise/user/create?";
const members = "/members?";
const assetNumbers = "/asset/assetNums?";
const virtualAssets = "/list?";

/**
 * The recorded answer to a request: `target` is path and query, `body` the request's text. Nothing is validated.
 * Undefined for a call that was not recorded.
 */
export function answerTo(
  target: string,
  body: string,
  created: Created,
): { call: Replayed; answer: string } | undefined {
  if (target.includes(lookUp)) {
    const id = between(`${target}&`, "channelCustomerId=", "&");
    const customers = created.has(id) ? `[${platformCustomer(id, 1)},${platformCustomer(id, 2)}]` : "[]";
    return { call: "E3", answer: success(customers) };
  }
  if (target.includes(create)) {
    const id = between(body, '"crmCustomerId":"', '"');
    created.add(id);
    return {
      call: "E2",
      answer: success(
        `{"enterpriseGlobalId":"g${id}","defaultType":true,"members":[{"memberGlobalId":"g${id}` +
          `m1","memberIdentity":"administrator"},{"memberGlobalId":"g${id}m2","memberIdentity":"staff"}]}`,
      ),
    };
  }
  if (target.includes(members)) {
    const gid = between(target, "/enterprise/", "/");
    return {
      call: "M5",
      answer: success(
        `{"pageNum":1,"pageSize":50,"size":2,"orderBy":null,"startRow":1,"endRow":2,"total":2,"pages":1,` +
          `"list":[${staffRow(gid, 1, "admin")},${staffRow(gid, 2, "staff")}],"firstPage":1,"prePage":0,` +
          '"nextPage":0,"lastPage":1,"isFirstPage":true,"isLastPage":true,"hasPreviousPage":false,' +
          '"hasNextPage":false,"navigatePages":8,"navigatepageNums":[1]}',
      ),
    };
  }
  if (target.includes(assetNumbers)) return { call: "M6", answer: success("[]") };
  if (target.includes(virtualAssets)) return { call: "E8", answer: success("[]") };
  return undefined;
}
