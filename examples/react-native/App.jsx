import { useEffect, useState } from "react";
import { ScrollView } from "react-native";
import { Alarms } from "./Alarms";
import { ContactList } from "./ContactList";
import { dismissAlarms, watchKeys } from "./keys";
import { SafetyCode } from "./SafetyCode";

export function App() {
  const [alarms, setAlarms] = useState([]);
  const [chosen, setChosen] = useState();
  useEffect(() => watchKeys(setAlarms), []);
  const dismiss = async () => {
    await dismissAlarms();
    setAlarms([]);
  };
  return (
    <ScrollView contentContainerStyle={{ padding: 24, paddingTop: 64 }}>
      {alarms.length > 0 ? (
        <Alarms alarms={alarms} onDismiss={dismiss} />
      ) : chosen ? (
        <SafetyCode {...chosen} onClose={() => setChosen()} />
      ) : (
        <ContactList onChoose={(name, verified) => setChosen({ name, verified })} />
      )}
    </ScrollView>
  );
}
