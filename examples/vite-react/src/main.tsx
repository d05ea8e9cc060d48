import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ContactList } from "./ContactList";

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <ContactList />
  </StrictMode>,
);
