import { send } from "./send.js";

const form = document.querySelector("form");
const status = document.querySelector("[role=status]");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { userID, keyFromServer, message } = Object.fromEntries(new FormData(form));
  status.textContent = "Verifying …";
  status.textContent = await send(userID, keyFromServer, message).catch((error) => `Not sent: ${error.message}`);
});
