import { settling } from "../breaks/settling.ts";
import { stage } from "../stage.ts";

stage(settling);
