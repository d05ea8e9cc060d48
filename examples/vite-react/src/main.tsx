import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ContactList } from "./ContactList";
import { NewPhone } from "./NewPhone";
import { RecoverySheet } from "./RecoverySheet";

const screens: Record<string, () => React.JSX.Element> = { "#sheet": RecoverySheet, "#phone": NewPhone };
const Screen = screens[location.hash] ?? ContactList;
addEventListener("hashchange", () => location.reload());

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <Screen />
  </StrictMode>,
);
