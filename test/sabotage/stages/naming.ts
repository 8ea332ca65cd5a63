import { naming } from "../breaks/naming.ts";
import { stage } from "../stage.ts";

stage(naming);
