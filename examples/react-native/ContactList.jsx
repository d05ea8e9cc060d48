import { useEffect, useState } from "react";
import { Button, Text, View } from "react-native";
import { verifyContacts } from "./keys";

/** The text for each `error.advice`. The app must not use the key in any of these cases. */
const ADVICE = {
  warn: "Warning: this may not be the contact's key. Do not send.",
  wait: "The contact's key is not published yet. Wait.",
  developer: "This app is not configured correctly. Inform its developer.",
  retry: "The key could not be checked. Try again later.",
};

/** Shows the contacts, and marks contacts with a verified key. @param onChoose called with a name and a verified key */
export function ContactList({ onChoose }) {
  const [contacts, setContacts] = useState([]);
  const [status, setStatus] = useState("");
  const load = async () => {
    setStatus("Checking the keys …");
    try {
      setContacts(await verifyContacts());
      setStatus("");
    } catch (error) {
      setContacts([]);
      setStatus(`The contacts could not be loaded. ${error.message}`);
    }
  };
  useEffect(() => {
    void load();
  }, []);
  return (
    <View>
      <Text role="status">{status}</Text>
      {contacts.map(({ name, outcome }, i) =>
        "verified" in outcome ? (
          <Button key={i} title={`✓ ${name}, verified`} onPress={() => onChoose(name, outcome.verified)} />
        ) : (
          <Text key={i} role="alert">
            {`${name}: ${ADVICE[outcome.error.advice]} (${outcome.error.code})`}
          </Text>
        ),
      )}
      <Button title="Check again" onPress={load} />
    </View>
  );
}
