import { useEffect, useState } from "react";
import { ScrollView, Text, View } from "react-native";
import { Alarms } from "./Alarms";
import { ContactList } from "./ContactList";
import { dismissAlarms, watchKeys } from "./keys";
import { NewPhone } from "./NewPhone";
import { RecoverySheet } from "./RecoverySheet";
import { SafetyCode } from "./SafetyCode";

const SCREENS = { Contacts, "Recovery sheet": RecoverySheet, "New phone": NewPhone };

export function App() {
  const [alarms, setAlarms] = useState([]);
  const [screen, setScreen] = useState("Contacts");
  useEffect(() => watchKeys(setAlarms), []);
  const dismiss = async () => {
    await dismissAlarms();
    setAlarms([]);
  };
  const Screen = SCREENS[screen];
  return (
    <ScrollView contentContainerStyle={{ padding: 24, paddingTop: 64 }}>
      {alarms.length > 0 ? (
        <Alarms alarms={alarms} onDismiss={dismiss} />
      ) : (
        <>
          <View role="tablist" style={{ flexDirection: "row", gap: 24, paddingBottom: 24 }}>
            {Object.keys(SCREENS).map((name) => (
              <Text key={name} role="tab" aria-selected={name === screen} onPress={() => setScreen(name)}>
                {name}
              </Text>
            ))}
          </View>
          <Screen />
        </>
      )}
    </ScrollView>
  );
}

function Contacts() {
  const [chosen, setChosen] = useState();
  return chosen ? (
    <SafetyCode {...chosen} onClose={() => setChosen()} />
  ) : (
    <ContactList onChoose={(name, verified) => setChosen({ name, verified })} />
  );
}
