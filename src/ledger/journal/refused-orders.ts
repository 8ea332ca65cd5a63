import { typeIn } from "../../engine/model/registry.ts";

const mayHold = (column: string): string => typeIn(column, ({ can }) => can.afterRefusal !== undefined);

/**
 * Calls of an order that were refused and may have done something all the same, the last one first. Once a later one
 * went through, what is shown of the order is that.
 */
export function refusedOrdersOf(columns: string): string {
  return `select ${columns} from operation_record i join operation o on o.id = i.operation_id
    where i.stream = 'orders' and i.namespace = +? and i.record_id = +? and ${mayHold("o.kind")}
      and o.state = 'rejected'
      and not exists (select 1 from operation_record later join operation d on d.id = later.operation_id
        where later.stream = 'orders' and later.namespace = i.namespace and later.record_id = i.record_id
          and ${mayHold("d.kind")} and d.state = 'done' and (d.created_at, d.id) > (o.created_at, o.id))
    order by o.created_at desc, o.id desc`;
}
