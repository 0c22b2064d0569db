#include "core.h"

#include <cstddef>

#include "api.h"

namespace fourfold::native {
namespace {

std::string argument(JSContextRef context, std::size_t count, const JSValueRef* given, JSValueRef* fault) {
    return count == 0 ? "" : text_of(context, given[0], fault);
}

template <std::string (*Answer)(std::string_view)>
JSValueRef text(JSContextRef context, JSObjectRef, JSObjectRef, std::size_t count, const JSValueRef* given, JSValueRef* fault) {
    const std::string request = argument(context, count, given, fault);
    return *fault == nullptr ? value_of(context, Answer(request)) : JSValueMakeUndefined(context);
}

JSValueRef catalog(JSContextRef context, JSObjectRef, JSObjectRef, std::size_t, const JSValueRef*, JSValueRef*) {
    return value_of(context, api::catalog());
}

// A function of the script that says whether to go on. What it throws ends the search.
struct GoOn {
    JSContextRef context;
    JSObjectRef function;
    JSValueRef* fault;
};
bool asked(void* go_on, const std::string& progress) {
    const auto& [context, function, fault] = *static_cast<GoOn*>(go_on);
    const JSValueRef said = value_of(context, progress);
    const JSValueRef answer = JSObjectCallAsFunction(context, function, nullptr, 1, &said, fault);
    return *fault == nullptr && JSValueToBoolean(context, answer);
}

JSValueRef place(JSContextRef context, JSObjectRef, JSObjectRef, std::size_t count, const JSValueRef* given, JSValueRef* fault) {
    const std::string request = argument(context, count, given, fault);
    if (*fault != nullptr) return JSValueMakeUndefined(context);
    if (count < 2 || !JSValueIsObject(context, given[1])) return value_of(context, api::place(request));
    GoOn go_on{context, JSValueToObject(context, given[1], fault), fault};
    const std::string answer = api::place(request, &asked, &go_on);
    return *fault == nullptr ? value_of(context, answer) : JSValueMakeUndefined(context);
}

}  // namespace

JSObjectRef core_of(JSContextRef context) {
    const JSObjectRef core = JSObjectMake(context, nullptr, nullptr);
    set(context, core, "catalog", &catalog);
    set(context, core, "import_config", &text<api::import_config>);
    set(context, core, "estimate", &text<api::estimate>);
    set(context, core, "alternatives", &text<api::alternatives>);
    set(context, core, "timeline", &text<api::timeline>);
    set(context, core, "import_plan", &text<api::import_plan>);
    set(context, core, "export_plan", &text<api::export_plan>);
    set(context, core, "find_models", &text<api::find_models>);
    set(context, core, "read_run", &text<api::read_run>);
    set(context, core, "rank", &text<api::rank>);
    set(context, core, "versus", &text<api::versus>);
    set(context, core, "limits", &text<api::limits>);
    set(context, core, "phases", &text<api::phases>);
    set(context, core, "pools", &text<api::pools>);
    set(context, core, "calibrate", &text<api::calibrate>);
    set(context, core, "read_links", &text<api::read_links>);
    set(context, core, "place", &place);
    return core;
}

}  // namespace fourfold::native
