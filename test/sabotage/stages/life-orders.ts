import { lifeOrders } from "../breaks/life-orders.ts";
import { stage } from "../stage.ts";

stage(lifeOrders);
